"""What a model's training takes of a device's memory, how much there is, and what to do when it runs out."""
