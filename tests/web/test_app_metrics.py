"""A monitor sees what the server does."""

from prometheus_client.parser import text_string_to_metric_families


def figures(client):
    """Return all figures by name and labels."""
    text = client.get("/metrics").text
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_requests_are_counted_by_route_and_status(client):
    """Each request counts once, under the path of its route, refused ones too."""
    client.get("/query?present=salsa")
    client.get("/query?present=beer")
    client.get("/query?present=nothing")
    client.get("/components/1")
    client.get("/whatever")
    found = figures(client)
    assert found["itemix_requests_total", ("path", "/query"), ("status", "200")] == 2
    assert found["itemix_requests_total", ("path", "/query"), ("status", "400")] == 1
    assert found["itemix_requests_total", ("path", "/components/{number:int}"), ("status", "200")] == 1
    assert found["itemix_requests_total", ("path", "none"), ("status", "404")] == 1
    assert found["itemix_request_seconds_count", ("path", "/query")] == 3


def test_the_state_of_the_server_is_told(client):
    """How many models there are, and what is being answered: this request."""
    found = figures(client)
    assert found["itemix_models",] == 3
    assert found["itemix_requests_in_progress",] == 1
