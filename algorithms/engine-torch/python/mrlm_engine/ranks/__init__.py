"""Several processes (ranks) as one engine: rank 0 sends work, every rank runs its part and answers.

Work is a function of a module and its arguments; messages are signed pickles.
It must not know what the work computes, nor how the processes were started.
"""
