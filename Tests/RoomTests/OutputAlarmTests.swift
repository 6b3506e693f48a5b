import Push
import RoomOutputs
import Testing

@Suite("Alarms of RTMP outputs and stores, and severities as numbers")
struct OutputAlarmTests {
    private static func push(_ state: PushCore.State, _ failure: PushFailure?, _ error: String? = nil) -> PushStatus {
        var status = PushStatus(outputID: "cdn", url: "rtmp://cdn.example/live", rendition: "720p")
        status.state = state
        status.lastFailure = failure
        status.lastError = error
        return status
    }

    @Test(
        "a failed RTMP output has an alarm of its failure until it is live again or stopped",
        arguments: [
            (.waiting, nil, nil, nil), (.connecting, nil, nil, nil), (.live, nil, nil, nil), (.stopped, nil, nil, nil),
            (.failed, .unreachable, "output.unreachable", "alert_2"), (.failed, .wedged, "output.stalled", "alert_2"),
            (.failed, .refused, "output.refused", "alert_2"), (.connecting, .wedged, "output.stalled", "alert_2"),
            (.live, .wedged, nil, nil), (.stopped, .unreachable, nil, nil),
        ] as [(PushCore.State, PushFailure?, String?, String?)])
    func pushes(state: PushCore.State, failure: PushFailure?, type: String?, severity: String?) {
        let alarm = OutputAlarm.of(Self.push(state, failure, "no answer"))
        #expect(alarm?.type == type && alarm?.severity == severity)
        if let alarm {
            #expect(alarm.kind == "output" && alarm.subject == "cdn" && alarm.message.hasSuffix(": no answer"))
        }
    }

    @Test("a failing store has an alarm with the number of waiting segments and the reason; one that works has none")
    func stores() {
        #expect(OutputAlarm.ofStore("origin", isFailing: false, waiting: 9) == nil)
        let alarm = OutputAlarm.ofStore("origin", isFailing: true, waiting: 9, reason: "HTTP status 503")
        #expect(alarm?.type == "output.unreachable" && alarm?.subject == "origin")
        #expect(alarm?.message == "origin accepts no uploads; 9 segments wait: HTTP status 503")
    }

    @Test(
        "severities alert_1 to alert_3 are the levels 1 to 3, anything else is 0",
        arguments: [("alert_1", 1), ("alert_2", 2), ("alert_3", 3), ("normal", 0), (nil, 0)] as [(String?, Int64)])
    func levels(severity: String?, level: Int64) { #expect(OutputAlarm.level(severity) == level) }
}
