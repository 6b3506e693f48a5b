import Events
import MediaTypes
import Room
import RoomOutputs
import RoomSources
import Testing

/// That a room raises these alarms is tested by SourceHealthNetworkTests, RoomLifecycleTests and OverloadTests (machine),
/// DiskGuardTests and DiskTests, EncoderTests (key), CertificateAlarmTests and TLSTests, OutputAlarmTests and UploadTests.
@Suite("The first entry in the operator page's list of trouble")
struct FaultTests {
    enum Fault: String, CaseIterable, CustomTestStringConvertible {
        case slowUplink = "slow uplink"
        case overloadedMachine = "overloaded machine"
        case fullDisk = "full disk"
        case wrongKey = "wrong key"
        case expiredCertificate = "expired certificate"
        case deadStore = "dead store"

        var testDescription: String { self.rawValue }

        /// The alarms of the fault and of what it causes, in the order in which they are set.
        fileprivate var alarms: [RoomAlarm?] {
            var damage = OutputDamage()
            switch self {
            case .slowUplink:
                return [
                    FaultTests.source(
                        .network, "alert_2", "its network is too slow: 700 ms of media arrive per second"),
                    FaultTests.source(.gap, "alert_3", "the media had a gap of 1100 ms, but 200 ms are tolerated"),
                    FaultTests.source(
                        .jitterBuffer, "alert_1", "900 ms of media wait, but its jitter buffer is 200 ms"),
                ]
            case .overloadedMachine:
                return [
                    RoomAlarm(
                        "encoder.overload_step", "alert_2", kind: "encoder",
                        message: "this machine cannot keep up: level 1 of 5, left out: decoding"),
                    FaultTests.source(
                        .jitterBuffer, "alert_1", "900 ms of media wait, but its jitter buffer is 200 ms"),
                ]
            case .fullDisk:
                damage.lost(3, of: "hls", because: MediaError(.diskFull, "no space is left", at: "hls", fix: ""))
                return [
                    RoomAlarm(
                        "output.disk_low", "alert_3", kind: "output", message: "/live: 0 bytes are free of 1000000000"),
                    RoomAlarm("output.stalled", "alert_2", kind: "output", message: "segments cannot be written"),
                    RoomAlarm(
                        "commands.not_durable", "alert_2", kind: "output",
                        message: "the next worker would not restore the last commands"),
                    RoomAlarm(
                        "source.recording", "alert_2", kind: "source", subject: "1001", message: "frames were lost"),
                ] + damage.alarms
            case .wrongKey: return [FaultTests.source(.absent, "alert_3", "no media arrives")]
            case .expiredCertificate:
                return [
                    CertificateAlarm.of("rtmps", validFrom: 0, validUntil: 1_000_000, now: 1_000_001),
                    FaultTests.source(.absent, "alert_3", "no media arrives"),
                ]
            case .deadStore:
                damage.lost(3, of: "cdn", because: MediaError(.outputLost, "given up", at: "cdn", fix: ""))
                return [
                    OutputAlarm.ofStore("cdn", isFailing: true, waiting: 9, reason: "connection refused")
                ] + damage.alarms
            }
        }

        /// The first entry's type, a part of its message, and words of the cause and of the remedy.
        fileprivate var first: [String] {
            switch self {
            case .slowUplink: ["source.network_slow", "network is too slow", "uplink", "Lower the bit rate"]
            case .overloadedMachine:
                ["encoder.overload_step", "this machine cannot keep up", "cannot keep up", "Run fewer rooms"]
            case .fullDisk: ["output.disk_low", "/live: 0 bytes are free", "nearly used up", "Free space"]
            case .wrongKey: ["ingest.refused", "an unknown key", "was refused", "Compare the stream key"]
            case .expiredCertificate:
                ["tls.certificate", "rtmps has expired", "has ended", "Write a new certificate"]
            case .deadStore:
                ["output.unreachable", "connection refused", "is not reached", "Check its address, credentials"]
            }
        }
    }

    fileprivate static func source(_ cause: SourceHealth.Cause, _ severity: String, _ message: String) -> RoomAlarm {
        RoomAlarm(cause.alarmType, severity, kind: "source", subject: "1001", message: "Anna: \(message)")
    }

    /// Prints the first entry's type, message, cause and remedy.
    private static let script = """
        import { explanation, noteRefusal, refusals, troubles } from "./trouble.js";
        for (const event of input.events) noteRefusal(event);
        const [first] = troubles(input.alarms, refusals), { cause, remedy } = explanation(first.type);
        console.log(JSON.stringify([first.type, first.message, cause, remedy]));
        """

    @Test(
        "the operator page's first trouble is the fault with cause and remedy, although its consequences are newer or more severe",
        arguments: Fault.allCases)
    func first(fault: Fault) throws {
        let alarms = fault.alarms.compactMap { $0 }.enumerated().map { index, alarm in
            AlarmReply(
                id: "1-\(index)", alarm: alarm, setAt: "2026-01-01T00:00:0\(index).000Z", clearedAt: nil
            ).json.text
        }
        let refusal = #"""
            { "type": "ingest.refused", "time": "2026-01-01T00:00:09.000Z", "remote": "10.0.0.7:5123", "reason": "an unknown key" }
            """#
        let events = fault == .wrongKey ? refusal : ""
        let shown: [String] = try PageModules.run(
            Self.script, input: #"{ "alarms": [\#(alarms.joined(separator: ","))], "events": [\#(events)] }"#)
        #expect(shown.count == 4 && shown.first == fault.first.first)
        for (text, part) in zip(shown, fault.first) { #expect(text.contains(part), "\(fault.rawValue): \(text)") }
    }

    @Test(
        "the operator page's first trouble stays the worst alarm if a possible cause is too old, of another source, or a warning"
    )
    func unrelated() throws {
        let script = """
            import { troubles } from "./trouble.js";
            const alarm = (type, severity, setAt, id) => ({ id: type, type, severity, setAt: `2026-01-01T00:00:0${setAt}Z`, state: "set", scope: { kind: "", id } });
            const lost = alarm("source.lost", "alert_3", 5, "1"), first = (...all) => troubles(...all)[0].type;
            console.log(JSON.stringify([
              first([lost], [alarm("ingest.refused", "alert_2", 4, null)]),
              first([lost, alarm("tls.certificate", "alert_2", 1, "rtmps")]),
              first([alarm("source.network_slow", "alert_1", 6, "2"), alarm("source.gap", "alert_3", 5, "1")]),
            ]));
            """
        #expect(try PageModules.run(script) as [String] == ["source.lost", "source.lost", "source.gap"])
    }
}
