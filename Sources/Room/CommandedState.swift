package import Control
package import MediaTypes
package import PipelineSpec
package import RoomScenes

/// The state that operators have commanded and that a successor restores: the content of `commands.json`.
///
/// A value: no clock, no lock, no I/O. Times are room time: nanoseconds since the Unix epoch, computed as origin +
/// program time once the program runs, so that setting the clock moves no deadline.
package struct CommandedState: Sendable, Equatable {
    /// The file's name in the directory of the room's state.
    package static let name = "commands.json"
    /// A reader of another version ignores the file. A minor version only adds members.
    package static let version = 1
    /// Minor version. 1: `pk` has the scenes named by the command that started it.
    package static let minor = 1
    /// Largest size of the file, in bytes.
    package static let limit = 256 << 10

    /// Changes that the API has made to the room's document.
    package struct Document: Sendable, Equatable {
        package var revision: Int
        /// The differences from the pipeline file, with stream keys hashed.
        package var edits: [DocumentEdit]

        package init(revision: Int, edits: [DocumentEdit]) {
            self.revision = revision
            self.edits = edits
        }
    }

    /// A scene that was put on air, or that is scheduled for a later tick.
    package struct Showing: Sendable, Equatable {
        package var scene: String
        package var tick: Int64
        /// The end of each countdown that began with it, in ticks.
        package var ends: [String: Int64] = [:]
        package var transition: Transition?

        package init(scene: String, tick: Int64, ends: [String: Int64] = [:], transition: Transition? = nil) {
            self.scene = scene
            self.tick = tick
            self.ends = ends
            self.transition = transition
        }
    }

    /// A scene that a command has set or removed, or whose revision differs from the document's.
    package struct SceneChange: Sendable, Equatable {
        package var revision: Int
        /// The body of the request; `nil`: the scene of the document.
        package var body: JSONNode?
        package var isRemoved = false

        package init(revision: Int, body: JSONNode? = nil, isRemoved: Bool = false) {
            self.revision = revision
            self.body = body
            self.isRemoved = isRemoved
        }
    }

    package struct PK: Sendable, Equatable {
        package var phase: PKStateMachine.Phase
        package var since: Int64
        /// `nil`: the phase lasts until a command.
        package var endsAt: Int64?
        /// Nanoseconds; see ``PKStateMachine/Durations``.
        package var durations: PKStateMachine.Durations
        /// Whether a PK that starts without a command has done so.
        package var hasStartedItself: Bool
        /// The scenes named by the command that started the PK.
        package var scenes: SceneSelector.PK.Scenes

        package init(
            phase: PKStateMachine.Phase, since: Int64, endsAt: Int64?, durations: PKStateMachine.Durations,
            hasStartedItself: Bool,
            scenes: SceneSelector.PK.Scenes = SceneSelector.PK.Scenes()
        ) {
            self.phase = phase
            self.since = since
            self.endsAt = endsAt
            self.durations = durations
            self.hasStartedItself = hasStartedItself
            self.scenes = scenes
        }
    }

    /// Changes that commands have made to one source; `nil`: as in the document.
    package struct Source: Sendable, Equatable {
        package var videoPush: Bool?
        package var audioPush: Bool?
        /// Percent.
        package var volume: Int?
        /// Percent, by track.
        package var trackVolumes: [Int: Int] = [:]
        package var offsetMs: Int?
        package var rotation: Int?
        /// The source may not be published until then.
        package var refusedUntil: Int64?
        /// The source was lost, and the room waits for it until then; 0: no longer.
        package var graceUntil: Int64?

        package init() {}
    }

    package struct Score: Sendable, Equatable {
        package var left: Int
        package var right: Int

        package init(left: Int, right: Int) {
            self.left = left
            self.right = right
        }
    }

    package struct Relay: Sendable, Equatable {
        package var source: SourceID
        package var id: String
        /// URL with the stream key. It is stored only in this file, and only while the relay runs.
        package var url: String

        package init(source: SourceID, id: String, url: String) {
            self.source = source
            self.id = id
            self.url = url
        }
    }

    /// A single-use stream key that was used.
    package struct UsedKey: Sendable, Equatable {
        /// Salted hash.
        package var digest: String
        /// Unix time in seconds; after it the key has expired anyway.
        package var expiry: Int64

        package init(digest: String, expiry: Int64) {
            self.digest = digest
            self.expiry = expiry
        }
    }

    /// An alarm that was announced and is active.
    package struct Alarm: Sendable, Equatable {
        package var id: String
        package var alarm: ActiveAlarms.Alarm
        package var setAt: Int64

        package init(id: String, alarm: ActiveAlarms.Alarm, setAt: Int64) {
            self.id = id
            self.alarm = alarm
            self.setAt = setAt
        }
    }

    /// A clip that was promised and is not ready.
    package struct Clip: Sendable, Equatable {
        package var id: String
        package var name: String
        package var rendition: String
        /// Program dates: nanoseconds since the Unix epoch.
        package var range: Range<Int64>

        package init(id: String, name: String, rendition: String, range: Range<Int64>) {
            self.id = id
            self.name = name
            self.rendition = rendition
            self.range = range
        }
    }

    package var roomID: String
    /// Salt of every hash in the file, in hexadecimal.
    package var salt: String
    /// Incarnation of the worker that wrote the file.
    package var incarnation: Int64 = 0
    /// Number of successors that restored this state and have not run for ``Resumption/probation`` yet.
    package var attempts = 0
    /// See `CommandRevisions`.
    package var revision: Int64 = 1
    /// Whether the room was asked to end.
    package var isEnded = false
    package var document: Document?
    package var onAir: Showing?
    package var upcoming: [Showing] = []
    package var scenes: [String: SceneChange] = [:]
    package var pk: PK?
    package var sources: [SourceID: Source] = [:]
    package var texts: [String: String] = [:]
    package var scores: [String: Score] = [:]
    /// Ends of countdowns, in ticks.
    package var countdowns: [String: Int64] = [:]
    package var relays: [Relay] = []
    /// Since when the room has had no publisher.
    package var idleSince: Int64?
    package var alarms: [Alarm] = []
    package var clips: [Clip] = []
    /// The oldest first.
    package var replies: [KeptReply] = []
    /// The oldest first.
    package var usedKeys: [UsedKey] = []

    /// Members that this version does not know, by the path of their object; they are kept when the file is rewritten.
    package var unknown: [String: [JSONMember]] = [:]
    /// Hashes of the members of the pipeline file that commands have changed, by name, with the values in the file of
    /// the worker that wrote this state.
    package var fileMembers: [String: String] = [:]

    package init(roomID: String, salt: String) {
        self.roomID = roomID
        self.salt = salt
    }

    /// Changes the entry of a source. A source is listed if commands have changed it, or if a later version has written
    /// members that this one does not know.
    package mutating func change(_ source: SourceID, _ body: (inout Source) -> Void) {
        var known = self.sources[source] ?? Source()
        body(&known)
        let isKnown = known != Source() || self.unknown[Self.path(of: source)] != nil
        self.sources[source] = isKnown ? known : nil
    }

    /// Removes the entry of a source and its relays.
    package mutating func forget(_ source: SourceID) {
        for relay in self.relays where relay.source == source { self.unknown[Self.path(of: relay)] = nil }
        self.unknown[Self.path(of: source)] = nil
        self.sources[source] = nil
        self.relays.removeAll { $0.source == source }
    }

    /// Records the scene on air. Unknown members of another scene are dropped.
    package mutating func setOnAir(_ showing: Showing) {
        if self.onAir?.scene != showing.scene {
            for path in ["onAir", "onAir.transition"] { self.unknown[path] = nil }
        }
        self.onAir = showing
    }

    /// Records a set or removed scene. Unknown members of its previous version are dropped.
    package mutating func setScene(_ id: String, _ change: SceneChange) {
        self.unknown["scenes[\(id)]"] = nil
        self.scenes[id] = change
    }

    /// Records the PK. Unknown members of a PK that has ended are dropped.
    ///
    /// - Parameter pk: nil if there is nothing to restore.
    package mutating func setPK(_ pk: PK?) {
        let wasRunning = self.pk.map { $0.phase != .idle } ?? false
        if pk.map({ $0.phase != .idle && !wasRunning }) ?? true { self.unknown["pk"] = nil }
        self.pk = pk
    }

    /// Whether there is nothing that a successor would restore.
    package var isPlain: Bool {
        var plain = CommandedState(roomID: self.roomID, salt: self.salt)
        plain.incarnation = self.incarnation
        return plain == self
    }
}
