"""Fitting confidence weights, on the packaged encoder, whose weights were fitted by hand."""

import pytest

from bots.language import embedding
from bots.search import confidence_calibration

pytestmark = pytest.mark.skipif(not embedding.available(), reason="no sentence encoder here")


@pytest.mark.full
def test_fitted_weights_do_as_well_as_those_that_come_with_the_platform(monkeypatch):
    right, false = confidence_calibration.measure(embedding.PACKAGED)
    fitted = confidence_calibration.fit(embedding.PACKAGED)
    monkeypatch.setattr(embedding._Packaged, "confidence_weights", fitted)
    again_right, again_false = confidence_calibration.measure(embedding.PACKAGED)
    assert again_right >= right - 0.1
    assert again_false <= false + 0.1


@pytest.mark.full
def test_the_weights_are_the_same_each_time():
    fitted = confidence_calibration.fit(embedding.PACKAGED)
    assert fitted == confidence_calibration.fit(embedding.PACKAGED)
    for weights in fitted:
        assert weights.nearness > 0
