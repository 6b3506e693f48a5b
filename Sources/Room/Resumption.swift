import Control
import Events
import MediaTypes
import PipelineSpec

/// The state that a worker continues with: the commanded state that the previous worker saved, checked against the
/// current pipeline file.
package struct Resumption: Sendable {
    /// If a worker dies within this time, in nanoseconds, after it has restored the state, then the state counts as the
    /// cause.
    package static let probation: Int64 = 30 * TimeMath.nanoseconds
    /// Number of workers in a row that may die during ``probation``. The next worker restores only the safety-relevant
    /// part, `CommandedState.reduced`.
    package static let mostAttempts = 2
    /// Suffix of the copy of `commands.json` that is kept in the same directory if ``isSetAside`` is true.
    package static let asideSuffix = ".aside"

    /// A member of the state that was not restored, and why.
    package struct Refusal: Sendable, Equatable {
        package var member: String
        package var reason: String
    }

    /// The restored state, without the members that could not be restored.
    package var state: CommandedState
    /// The settings with the room's document: that of the pipeline file with the restored edits.
    package let settings: RoomSettings
    /// The document of the current pipeline file.
    let file: RoomDocument?
    /// The content of `commands.json` that was read; nil if there was no file.
    let bytes: [UInt8]?
    /// Whether only the safety-relevant part was restored because ``mostAttempts`` workers have died.
    package private(set) var isReduced = false
    /// Whether `commands.json` was damaged, of another version or of another room, or was restored only in part because
    /// ``mostAttempts`` workers have died; a copy is then kept aside.
    package private(set) var isSetAside = false
    /// The members that were not restored.
    package var refused: [Refusal] = []
    /// Whether this worker must set a copy aside. If an earlier worker has already done so because of a reduced state,
    /// then this worker does not.
    var keepsAside: Bool { self.isSetAside && !(self.isReduced && self.state.attempts > Self.mostAttempts) }

    /// Reads the saved state, and applies the saved edits to the document of the pipeline file. Members of the file
    /// that were changed since take precedence over the saved state.
    ///
    /// - Parameters:
    ///   - settings: The settings from the command line and the pipeline file.
    ///   - bytes: The content of `commands.json`; nil if there is no such file.
    package init(_ settings: RoomSettings, _ bytes: [UInt8]?) {
        self.bytes = bytes
        self.file = settings.document
        let roomID = settings.pipeline.room.roomID
        var state = CommandedState(roomID: roomID, salt: Self.newSalt())
        guard let bytes else {
            (self.state, self.settings) = (state, settings)
            return
        }
        let reading = CommandedState.read(bytes)
        var refused: [Refusal] = []
        if let reading, reading.state.roomID == roomID {
            state = reading.state
            if state.salt.isEmpty { state.salt = Self.newSalt() }
            refused = reading.problems.map { Refusal(member: $0, reason: "the member cannot be read") }
        } else {
            self.isSetAside = true
            let reason =
                reading == nil
                ? "commands.json is damaged, or of another version" : "commands.json belongs to another room"
            refused = [Refusal(member: CommandedState.name, reason: reason)]
        }
        if state.attempts >= Self.mostAttempts {
            (self.isReduced, self.isSetAside) = (true, true)
            state = state.reduced
        }
        if let file = settings.document { refused += state.yield(to: file) }
        self.settings = Self.restoreDocument(&state, settings, &refused)
        (self.state, self.refused) = (state, refused)
    }

    /// Applies the edits that commands made to the document to the current pipeline file.
    private static func restoreDocument(
        _ state: inout CommandedState, _ settings: RoomSettings, _ refused: inout [Refusal]
    ) -> RoomSettings {
        guard let file = settings.document, let document = state.document else { return settings }
        var checks = RoomChecks.here(wall: settings.clocks.wall)
        // A file source whose file is gone is not restored; otherwise the room could not open.
        checks.media = RoomChecks.mediaCheck()
        let (restored, failures) = file.applying(document.edits, revision: document.revision, checks: checks)
        refused += failures.map { Refusal(member: $0.edit.name, reason: $0.reason) }
        state.document?.edits.removeAll { edit in failures.contains { $0.edit == edit } }
        state.document?.revision = restored.revision
        return settings.running(restored)
    }

    private static func newSalt() -> String {
        Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max) })
    }

    /// The alarm that the previous worker's `commands.json` was set aside; nil if it was not.
    var alarm: RoomAlarm? {
        guard self.isSetAside else { return nil }
        let reason =
            self.isReduced
            ? "two workers have died within 30 s of restoring it" : "it is damaged, or of another version or room"
        return RoomAlarm(
            "commands.set_aside", "alert_2", kind: "config",
            message: "commands.json was set aside: \(reason); see room.resumed for what is not restored")
    }

    /// Names of the restored members, for `room.resumed`.
    package var restored: [String] {
        var names: [String] = []
        if self.state.isEnded { names.append("end") }
        if self.state.document != nil { names.append("document") }
        names += (self.state.document?.edits ?? []).map(\.name)
        if self.state.onAir != nil { names.append(CommandedState.onAirMember.name) }
        names += self.state.upcoming.map { "program.scene at tick \($0.tick)" }
        names += self.state.scenes.keys.sorted().map { "scenes[\($0)]" }
        if self.state.pk != nil { names.append("pk") }
        for (id, source) in self.state.sources.sorted(by: { $0.key.description < $1.key.description }) {
            names += source.memberNames.map { "sources[\(id)].\($0)" }
        }
        names += self.state.texts.keys.sorted().map { "texts[\($0)]" }
        names += self.state.scores.keys.sorted().map { "scoreBars[\($0)]" }
        names += self.state.countdowns.keys.sorted().map { "countdowns[\($0)]" }
        names += self.state.relays.map { "sources[\($0.source)].relays[\($0.id)]" }
        if !self.state.usedKeys.isEmpty { names.append("usedKeys") }
        if !self.state.replies.isEmpty { names.append("replies") }
        return names
    }
}

extension CommandedState {
    /// The part of the state that is safety-relevant (covers, mutes, kicks, document, PK and the room's end), and what
    /// must never go back (revisions and used keys).
    var reduced: CommandedState {
        var reduced = CommandedState(roomID: self.roomID, salt: self.salt)
        (reduced.attempts, reduced.revision, reduced.isEnded) = (self.attempts, self.revision, self.isEnded)
        (reduced.document, reduced.pk, reduced.usedKeys) = (self.document, self.pk, self.usedKeys)
        reduced.fileMembers = self.fileMembers
        for (id, source) in self.sources {
            reduced.change(id) {
                ($0.videoPush, $0.audioPush) = (source.videoPush, source.audioPush)
                $0.refusedUntil = source.refusedUntil
            }
        }
        return reduced
    }

    /// Drops every member whose value in the pipeline file has changed since the previous worker ran, because the file
    /// wins over commands.
    ///
    /// A cover, mute or kick is not a member of the file, so no change of the file undoes it.
    ///
    /// - Returns: The dropped members with the reason.
    mutating func yield(to file: RoomDocument) -> [Resumption.Refusal] {
        let changed = Set(self.changedMembers.filter { self.isChanged($0, in: file) })
        func has(_ member: FileMember) -> Bool { changed.contains(member) }
        self.document?.edits.removeAll { has(.path($0.path)) }
        if has(Self.onAirMember) { (self.onAir, self.upcoming) = (nil, []) }
        self.scenes = self.scenes.filter { !has(Self.scene($0.key)) }
        for id in self.sources.keys {
            self.change(id) {
                if has(Self.source(id, "volume")) { $0.volume = nil }
                if has(Self.source(id, "audioTracks")) { $0.trackVolumes = [:] }
                if has(Self.source(id, "offsetMs")) { $0.offsetMs = nil }
                if has(Self.source(id, "rotation")) { $0.rotation = nil }
                if has(Self.source(id, "record")) { $0.recording = nil }
            }
        }
        self.texts = self.texts.filter { !has(Self.text($0.key)) }
        self.scores = self.scores.filter { !has(Self.score($0.key)) }
        self.countdowns = self.countdowns.filter { !has(Self.countdown($0.key)) }
        return changed.map {
            Resumption.Refusal(member: $0.name, reason: "the member was changed in the pipeline file")
        }
        .sorted { $0.member < $1.member }
    }
}

extension CommandedState.Source {
    /// Names of the source's members that commands have set.
    var memberNames: [String] {
        var names: [String] = []
        if self.videoPush != nil { names.append("videoPush") }
        if self.audioPush != nil { names.append("audioPush") }
        if self.volume != nil { names.append("volume") }
        if !self.trackVolumes.isEmpty { names.append("audioTracks") }
        if self.offsetMs != nil { names.append("offsetMs") }
        if self.rotation != nil { names.append("rotation") }
        if self.recording != nil { names.append("record") }
        if self.refusedUntil != nil { names.append("refused") }
        return names
    }
}
