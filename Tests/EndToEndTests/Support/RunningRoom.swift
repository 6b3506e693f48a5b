import Foundation
import Glibc
import Testing

/// A room in its own process, with its events.
final class RunningRoom: Sendable {
    let child: Child
    let rtmp: String
    let control: String
    let viewer: String?
    /// Secrets that the room must not print.
    let secrets: SecretWatch
    private let isFile: Bool

    /// Allows requests to connect to other rooms and receivers of the test, which are all on this machine.
    private static let egress = ["--set", #"control.egress.allowedHosts=["127.0.0.0/8"]"#]

    /// Starts `tandem run` and waits until it is ready.
    ///
    /// - Parameters:
    ///   - pipeline: JSON for standard input, or the path of a file.
    ///   - allowsLoopback: False: use the allow list of the pipeline.
    ///   - binary: The program that runs the room.
    init(
        _ pipeline: String, _ arguments: [String] = [], environment: [String: String] = [:],
        allowsLoopback: Bool = true, binary: String = EndToEnd.binary
    ) throws {
        let arguments = arguments + (allowsLoopback ? Self.egress : [])
        let isFile = pipeline.hasPrefix("/")
        let pipeline = isFile ? pipeline : SecretWatch.hiding(in: pipeline)
        let child = try Child(
            binary, ["run", isFile ? pipeline : "-"] + arguments, environment: environment,
            input: isFile ? nil : pipeline)
        let text = isFile ? (try? Files.text(pipeline)) ?? "" : pipeline
        self.isFile = isFile
        self.secrets = SecretWatch(text, environment: environment)
        guard let (line, _) = child.line(from: 0, timeout: 15, matches: { _ in true }), let ready = Event(line) else {
            child.stop(SIGKILL)
            throw Missing("the room emitted no event; its output: \(child.errors)")
        }
        #expect(ready.type == "room.ready", "the first event is room.ready")
        self.child = child
        self.rtmp = ready.text("rtmp") ?? ""
        self.control = ready.text("control") ?? ""
        self.viewer = ready.text("viewer")
    }

    deinit {
        self.child.signal(SIGKILL)
        self.secrets.check(self.child)
    }

    /// The URL to publish to with `key`.
    func url(_ key: String) -> String { "\(self.rtmp)/live/\(self.key(key))" }

    /// The key as the room knows it, for other URLs; or a wrong one, which must not be printed either.
    func key(_ key: String) -> String {
        let long = self.isFile ? key : SecretWatch.long(key)
        self.secrets.add(long)
        return long
    }

    // MARK: Events

    var events: [Event] { self.child.outputLines.compactMap { Event($0) } }

    func events(_ type: String) -> [Event] { self.events.filter { $0.type == type } }

    /// Waits for the first event of this type and user, from line `start` of the output on.
    ///
    /// - Parameter uid: Also matches a stream of the user, such as `1001/sub`; nil: any.
    @discardableResult
    func event(
        _ type: String, uid: String? = nil, from start: Int = 0, timeout: Double = 15,
        where condition: (Event) -> Bool = { _ in true }
    ) throws -> Event {
        let found = self.child.line(from: start, timeout: timeout) { line in
            guard line.contains("\"\(type)\""), let event = Event(line), event.type == type else { return false }
            guard uid == nil || event.text("uid")?.split(separator: "/").first.map(String.init) == uid else {
                return false
            }
            return condition(event)
        }
        guard let found, let event = Event(found.line) else {
            let types = self.events.suffix(12).map(\.type).joined(separator: " ")
            throw Missing(
                "no \(type) within \(timeout) s; last events: \(types); errors: \(self.child.errors.suffix(800))")
        }
        return event
    }

    /// Index after the last line of output so far: a start for ``event(_:uid:from:timeout:where:)``.
    var now: Int { self.child.outputLines.count }

    /// Waits until `count` more segments are published. The short segments at the start of a live room count as one.
    ///
    /// - Parameter countsShort: Count each of those, too.
    @discardableResult
    func segments(_ count: Int, timeout: Double = 30, countsShort: Bool = false) throws -> Event {
        var remaining = count
        return try self.event("segment.published", from: self.now, timeout: timeout) { event in
            let isShort = event.integer("mediaSequence") ?? 0 < 3 && event.integer("ticks") ?? 0 < 32
            if !isShort || countsShort { remaining -= 1 }
            return remaining == 0
        }
    }

    // MARK: Control

    @discardableResult
    func put(scene: String) throws -> HTTPClient.Reply {
        let reply = try HTTPClient.request("PUT", self.control, "/v1/program", body: #"{"scene":"\#(scene)"}"#)
        #expect(reply.status == 200, "\(reply.body)")
        return reply
    }

    func state() throws -> [String: Any] {
        let reply = try HTTPClient.request("GET", self.control, "/v1/room")
        self.secrets.note(reply.body)
        return reply.json()
    }

    /// Ends the room with `room:end`, and waits for its process.
    ///
    /// - Returns: The exit code.
    func end(timeout: Double = 20) throws -> Int32 {
        _ = try? self.state()
        let reply = try HTTPClient.request("POST", self.control, "/v1/room:end")
        #expect((200..<300).contains(reply.status), "\(reply.body)")
        defer { self.secrets.check(self.child) }
        return try self.over(timeout: timeout)
    }

    /// Waits for the process of a room that is ending, but not for viewers that it still serves.
    ///
    /// - Returns: The exit code.
    func over(timeout: Double = 20) throws -> Int32 {
        self.endLingering(timeout: timeout)
        return try self.child.wait(timeout: timeout)
    }

    /// Waits for `room.closed`, and ends with SIGTERM the time for which the room continues to serve viewers. The exit
    /// code is unchanged.
    ///
    /// If that time is longer than three seconds, then viewers get three seconds to see the end.
    private func endLingering(timeout: Double) {
        guard (try? self.event("room.closed", timeout: timeout)) != nil else { return }
        let limit = Date().addingTimeInterval(timeout)
        while self.child.isRunning, Date() < limit {
            if let line = self.child.errors.range(of: "viewers are still served") {
                let rest = self.child.errors[line.upperBound...].prefix(400)
                let seconds = rest.firstMatch(of: /"seconds":"([0-9]+)"/).flatMap { Int($0.output.1) } ?? 0
                if seconds > 3 { Thread.sleep(forTimeInterval: 3.2) }
                break
            }
            Thread.sleep(forTimeInterval: 0.02)
        }
        self.child.signal(SIGTERM)
    }

    /// Sends a signal and waits for the process.
    ///
    /// - Returns: The exit code, or 128 + signal.
    func terminate(_ signal: Int32, timeout: Double = 20) throws -> Int32 {
        self.child.signal(signal)
        defer { self.secrets.check(self.child) }
        if signal == SIGINT { self.endLingering(timeout: timeout) }
        return try self.child.wait(timeout: timeout)
    }
}
