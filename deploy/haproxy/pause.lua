-- Delays a response, so that HAProxy, which repeats a request at once after a 503, does so about three times per second.
core.register_action("pause", { "http-res" }, function() core.msleep(300) end)
