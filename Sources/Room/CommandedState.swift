package import Control
package import MediaTypes
package import PipelineSpec
package import RoomScenes

/// What operators have commanded and a successor restores: the content of `commands.json`.
///
/// A value: no clock, no lock, no I/O. Times are room time: nanoseconds since the Unix epoch, counted as origin + program time
/// once the program runs, so that a clock that is set moves no deadline.
package struct CommandedState: Sendable, Equatable {
    /// The file's name in the directory of the room's state.
    package static let name = "commands.json"
    /// Readers of another version do not read the file. A minor version only adds members.
    package static let version = 1
    ///
    /// 1: `pk` has the scenes that the command named which started it.
    package static let minor = 1
    /// Most bytes of the file.
    package static let limit = 256 << 10

    /// What the API has said of the document the room runs by.
    package struct Document: Sendable, Equatable {
        package var revision: Int
        /// How it differs from the pipeline file, with its stream keys sealed.
        package var edits: [DocumentEdit]

        package init(revision: Int, edits: [DocumentEdit]) {
            self.revision = revision
            self.edits = edits
        }
    }

    /// A scene that was put on air, or is to be at a later tick.
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

    /// A scene that a command has put or removed, or whose revision is another than the document's.
    package struct SceneChange: Sendable, Equatable {
        package var revision: Int
        /// The request's body; `nil`: the document's.
        package var body: JSONNode?
        package var isRemoved = false

        package init(revision: Int, body: JSONNode? = nil, isRemoved: Bool = false) {
            self.revision = revision
            self.body = body
            self.isRemoved = isRemoved
        }
    }

    package struct PK: Sendable, Equatable {
        package var phase: PKLife.Phase
        package var since: Int64
        /// `nil`: the phase has no end of its own.
        package var endsAt: Int64?
        /// Nanoseconds; see ``PKLife/Durations``.
        package var durations: PKLife.Durations
        /// A PK that starts by itself has done so.
        package var hasStartedItself: Bool
        /// The scenes that the command named which started the PK.
        package var scenes: RoomLife.PK.Scenes

        package init(
            phase: PKLife.Phase, since: Int64, endsAt: Int64?, durations: PKLife.Durations, hasStartedItself: Bool,
            scenes: RoomLife.PK.Scenes = RoomLife.PK.Scenes()
        ) {
            self.phase = phase
            self.since = since
            self.endsAt = endsAt
            self.durations = durations
            self.hasStartedItself = hasStartedItself
            self.scenes = scenes
        }
    }

    /// What commands have made of one source; `nil`: as the document says.
    package struct Source: Sendable, Equatable {
        package var videoPush: Bool?
        package var audioPush: Bool?
        /// Percent.
        package var volume: Int?
        /// Percent, by track.
        package var trackVolumes: [Int: Int] = [:]
        package var offsetMs: Int?
        package var rotation: Int?
        /// Nobody may publish it until then.
        package var refusedUntil: Int64?
        /// It was lost, and is waited for until then.
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
        /// URL with the stream key. This file alone holds it, and only while the relay runs.
        package var url: String

        package init(source: SourceID, id: String, url: String) {
            self.source = source
            self.id = id
            self.url = url
        }
    }

    /// A stream key that is good for one publication, and was used.
    package struct UsedKey: Sendable, Equatable {
        /// Salted hash.
        package var digest: String
        /// Unix time in seconds; later the key is expired anyway.
        package var expiry: Int64

        package init(digest: String, expiry: Int64) {
            self.digest = digest
            self.expiry = expiry
        }
    }

    /// An alarm that was announced and holds.
    package struct Alarm: Sendable, Equatable {
        package var id: String
        package var alarm: AlarmBook.Alarm
        package var setAt: Int64

        package init(id: String, alarm: AlarmBook.Alarm, setAt: Int64) {
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
    /// Successors that restored this and have not lived for ``Resumption/probation`` yet.
    package var attempts = 0
    /// See `CommandRevisions`.
    package var revision: Int64 = 1
    /// The room is to end.
    package var isEnded = false
    package var document: Document?
    package var onAir: Showing?
    package var upcoming: [Showing] = []
    package var scenes: [String: SceneChange] = [:]
    package var pk: PK?
    package var sources: [SourceID: Source] = [:]
    package var texts: [String: String] = [:]
    package var scores: [String: Score] = [:]
    /// Ticks.
    package var countdowns: [String: Int64] = [:]
    package var relays: [Relay] = []
    /// Since when nobody has been there.
    package var idleSince: Int64?
    package var alarms: [Alarm] = []
    package var clips: [Clip] = []
    /// The oldest first.
    package var replies: [KeptReply] = []
    /// The oldest first.
    package var usedKeys: [UsedKey] = []

    /// Members that this version does not know, by the path of the object they stand in: they are kept on a rewrite.
    package var unknown: [String: [JSONMember]] = [:]
    /// Hashes of the members of the pipeline file that commands have changed, by their names, as the writer's file said them.
    package var fileMembers: [String: String] = [:]

    package init(roomID: String, salt: String) {
        self.roomID = roomID
        self.salt = salt
    }

    /// Changes what is known of a source. A source is listed if commands have changed it, or if a later version has written members
    /// that this one does not know.
    package mutating func change(_ source: SourceID, _ body: (inout Source) -> Void) {
        var known = self.sources[source] ?? Source()
        body(&known)
        let isKnown = known != Source() || self.unknown[Self.path(of: source)] != nil
        self.sources[source] = isKnown ? known : nil
    }

    /// Forgets what was commanded of a source, its relays included.
    package mutating func forget(_ source: SourceID) {
        for relay in self.relays where relay.source == source { self.unknown[Self.path(of: relay)] = nil }
        self.unknown[Self.path(of: source)] = nil
        self.sources[source] = nil
        self.relays.removeAll { $0.source == source }
    }

    /// Puts a scene on air. Members that a later version has written of another scene do not describe this one.
    package mutating func setOnAir(_ showing: Showing) {
        if self.onAir?.scene != showing.scene {
            for path in ["onAir", "onAir.transition"] { self.unknown[path] = nil }
        }
        self.onAir = showing
    }

    /// Puts or removes a scene. Members that a later version has written of the scene before do not describe this one.
    package mutating func setScene(_ id: String, _ change: SceneChange) {
        self.unknown["scenes[\(id)]"] = nil
        self.scenes[id] = change
    }

    /// Sets the PK. Members that a later version has written of a PK that is over do not describe the next one.
    ///
    /// - Parameter pk: nil: there is nothing to restore.
    package mutating func setPK(_ pk: PK?) {
        let wasRunning = self.pk.map { $0.phase != .idle } ?? false
        if pk.map({ $0.phase != .idle && !wasRunning }) ?? true { self.unknown["pk"] = nil }
        self.pk = pk
    }

    /// Nothing was commanded that a successor would restore.
    package var isPlain: Bool {
        var plain = CommandedState(roomID: self.roomID, salt: self.salt)
        plain.incarnation = self.incarnation
        return plain == self
    }
}
