"""The baselines of the NeuroTrialNER paper behind one interface: dictionary, registry columns, zero-shot chat model."""
