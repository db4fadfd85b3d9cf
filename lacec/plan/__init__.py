"""Exchange plans (040): two selectors into one agreed plan, and into what each side runs."""
