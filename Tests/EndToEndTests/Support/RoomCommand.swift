import Foundation

/// A command to a running room, and what a successor must show after it.
struct RoomCommand: Sendable {
    /// When the command is on disk.
    enum Durability: Sendable {
        /// When it is answered.
        case answered
        /// At most about 100 ms after it is answered.
        case soon
    }

    /// How a command changes whether viewers see and hear a publisher.
    struct Visibility: Sendable {
        var publisher: ColoredPublisher
        /// nil: unchanged.
        var showsVideo: Bool?
        var playsAudio: Bool?
    }

    let name: String
    let method: String
    let path: String
    let body: @Sendable (CommandedRoomFile) -> String
    /// Prefixes of the ``CommandedFacts`` that the command may change.
    let changes: [String]
    /// Whether a room shows the effect of the command.
    let shows: @Sendable (CommandedFacts) -> Bool
    private(set) var durability = Durability.answered
    private(set) var visibility: Visibility?
    private(set) var idempotencyKey: String?

    init(
        _ name: String, _ method: String, _ path: String, _ body: String = "{}", changes: [String],
        shows: @escaping @Sendable (CommandedFacts) -> Bool
    ) {
        self.init(name, method, path, { _ in body }, changes: changes, shows: shows)
    }

    init(
        _ name: String, _ method: String, _ path: String, _ body: @escaping @Sendable (CommandedRoomFile) -> String,
        changes: [String], shows: @escaping @Sendable (CommandedFacts) -> Bool
    ) {
        (self.name, self.method, self.path, self.body) = (name, method, path, body)
        (self.changes, self.shows) = (changes, shows)
    }

    /// The same command, written to disk up to about 100 ms after its reply.
    var soon: RoomCommand {
        var command = self
        command.durability = .soon
        return command
    }

    /// The same command with an `Idempotency-Key`.
    func keyed(_ key: String) -> RoomCommand {
        var command = self
        command.idempotencyKey = key
        return command
    }

    /// The same command, which hides a publisher's video or audio (true), or shows or plays it again (false).
    func hiding(_ publisher: ColoredPublisher, video: Bool? = nil, audio: Bool? = nil) -> RoomCommand {
        var command = self
        command.visibility = Visibility(
            publisher: publisher, showsVideo: video.map { !$0 }, playsAudio: audio.map { !$0 })
        return command
    }

    /// A command that sets members of a source, which a GET request then returns.
    static func source(_ name: String, _ publisher: ColoredPublisher, _ members: KeyValuePairs<String, String>)
        -> RoomCommand
    {
        let body = members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
        let names = members.map { ("\(publisher.uid).\($0.key)", $0.value) }
        return RoomCommand(
            name, "PUT", "/v1/sources/\(publisher.uid)", "{\(body)}", changes: names.map(\.0)
        ) { facts in names.allSatisfy { facts[$0.0] == $0.1 } }
    }

    /// A command that sets members of a source that are only in `commands.json`.
    static func stored(_ name: String, _ publisher: ColoredPublisher, _ body: String, _ member: String, _ value: String)
        -> RoomCommand
    {
        let fact = "file.\(publisher.uid).\(member)"
        return RoomCommand(name, "PUT", "/v1/sources/\(publisher.uid)", body, changes: [fact]) { $0[fact] == value }
    }

    /// Sends the command.
    ///
    /// - Returns: The reply.
    func send(_ room: RunningRoom, _ file: CommandedRoomFile) throws -> HTTPClient.Reply {
        try HTTPClient.request(
            self.method, room.control, self.path, body: self.method == "DELETE" ? "" : self.body(file),
            fields: self.idempotencyKey.map { ["Idempotency-Key": $0] } ?? [:])
    }

    /// Waits until the room shows the effect of the command; throws after three seconds.
    func waitForEffect(_ room: RunningRoom, _ file: CommandedRoomFile) throws {
        let limit = Date().addingTimeInterval(3)
        while try !self.shows(CommandedFacts(room, file.directory)) {
            guard Date() < limit else { throw Missing("\(self.name) has no effect") }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }
}
