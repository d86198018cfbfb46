"""Campaigns, tables, pictures, and the command line."""

if __name__ == "bench":  # its name in release 0.1
    from hindsched.old_names import redirect

    redirect(__name__)
