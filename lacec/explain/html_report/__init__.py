"""Pages to look at: one file of HTML for a policy, a side of a plan, or an exchange.

In: what `lacec explain` knows. Out: text that a browser shows without asking anybody for
anything. All that comes from outside goes through html.py, which makes it plain text.
"""
