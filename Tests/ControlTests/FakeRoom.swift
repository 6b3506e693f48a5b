import Control
import Synchronization

/// A room that remembers what it was asked for.
final class FakeRoom: RoomControlling {
    private let log = Mutex<[String]>([])
    let health: HealthReport

    init(
        health: HealthReport = HealthReport(
            live: true, ready: true, started: true, state: "live", checks: ["tick": "ok"])
    ) {
        self.health = health
    }

    var calls: [String] { self.log.withLock { $0 } }

    func stateJSON() -> String { #"{"state":"live"}"# }

    func setProgram(sceneID: String) throws(ControlFailure) {
        guard ["solo", "pk"].contains(sceneID) else {
            throw .notFound("there is no scene \"\(sceneID)\"", fix: "use one of: solo, pk")
        }
        self.note("program \(sceneID)")
    }

    func setSource(
        uid: String, streamType: String, volume: Int?, audioPush: Bool?, videoPush: Bool?
    ) throws(ControlFailure) {
        guard uid == "1001" || uid == "a/b" else {
            throw .notFound("there is no source \"\(uid)\"", fix: "use one of: 1001")
        }
        func text(_ value: (some CustomStringConvertible)?) -> String { value.map { "\($0)" } ?? "-" }
        self.note("source \(uid) \(streamType) \(text(volume)) \(text(audioPush)) \(text(videoPush))")
    }

    func putRelay(uid: String, streamType: String, relayID: String, url: String) throws(ControlFailure) -> String {
        guard uid == "1001" || uid == "a/b" else {
            throw .notFound("there is no source \"\(uid)\"", fix: "use one of: 1001")
        }
        guard relayID != "r5" else { throw .limitExceeded("1001 goes to 4 rooms already", fix: "delete one") }
        self.note("relay \(uid) \(streamType) \(relayID) \(url)")
        return #"{"state":"connecting"}"#
    }

    func deleteRelay(uid: String, streamType: String, relayID: String) throws(ControlFailure) {
        guard relayID == "r1" else { throw .notFound("1001 has no relay \"\(relayID)\"", fix: "use one of: r1") }
        self.note("no relay \(uid) \(streamType) \(relayID)")
    }

    func changePK(_ command: PKCommand) throws(ControlFailure) -> String {
        self.note("pk \(command)")
        return #"{"phase":"pk"}"#
    }

    func end() { self.note("end") }
    func drain() { self.note("drain") }

    private func note(_ call: String) { self.log.withLock { $0.append(call) } }
}
