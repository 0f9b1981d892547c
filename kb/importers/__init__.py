"""Published terminologies in: five formats as terms, and the terms as rows beside the shipped concepts."""
