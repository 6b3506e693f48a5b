import HLS
import HTTPTypes
import MediaTypes
import Packager
import PipelineSpec
import Room
import Testing

extension InProcess {
    @Suite("A worker is killed while it writes commands.json")
    struct CommandKillTests {
        /// The part of the state that commands decide. The room changes the rest at any time.
        private static func commanded(_ resumption: Resumption) -> CommandedState {
            var state = resumption.state
            (state.salt, state.incarnation, state.attempts) = ("", 0, 0)
            (state.idleSince, state.alarms) = (nil, [])
            for source in state.sources.keys { state.change(source) { $0.graceUntil = nil } }
            return state
        }

        /// Sends a command.
        ///
        /// - Returns: Whether the reply says that it is durable.
        @discardableResult
        static func send(
            _ command: KillCommand, to room: RoomHarness, _ facts: KillCommand.Facts, settles: Bool = true
        ) async throws -> Bool {
            var fields: HTTPFields = [:]
            if let key = command.idempotencyKey, let name = HTTPField.Name("Idempotency-Key") { fields[name] = key }
            let reply = try await room.command(
                command.method, command.path, command.method == .delete ? "{}" : command.body(facts), fields: fields,
                status: command.status, settles: settles)
            return reply.member("durable")?.content != .boolean(false)
        }

        static func facts(_ room: RoomHarness, _ directory: RoomDirectory) -> KillCommand.Facts {
            let date = room.wall.now() + 50 * RoomHarness.second
            return KillCommand.Facts(directory: directory.path, later: ProgramDate.format(date))
        }

        @Test("the list of commands for these tests has at least 40 commands, all with different names")
        func table() {
            #expect(KillCommand.all.count >= 40)
            #expect(Set(KillCommand.all.map(\.name)).count == KillCommand.all.count)
        }

        @Test(
            "if the worker dies after any step of a write, commands.json has all that was answered as durable, and no half-applied command"
        )
        func everyStep() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let pipeline = KillRoom.pipeline(directory.path)
            let log = WriteLog("\(directory.path)/hls")
            let room = try await RoomHarness.open(pipeline) { $0.commandsReached = { log.record($0) } }
            try await room.goLive(HarnessRooms.first, HarnessRooms.second)
            let facts = Self.facts(room, directory)
            // The state that a successor would resume after each command.
            var states = [try KillRoom.resumption(log.content, pipeline)]
            var late: [String] = []
            for (index, command) in KillCommand.all.enumerated() {
                log.noteSent(index + 1)
                let isDurable = try await Self.send(command, to: room, facts)
                if !isDurable { late.append(command.name) }
                if command.reply == .waits, isDurable { log.noteDurable(index + 1) }
                if index == KillCommand.all.count - 1 { break }
                // Commands answered at once are written within 100 ms.
                try await room.run(seconds: 0.2)
                log.noteDurable(index + 1)
                states.append(try KillRoom.resumption(log.content, pipeline))
                try Self.expectEffect(command, states)
            }
            // Each step of the last command is checked as well.
            states.append(try KillRoom.resumption(try #require(log.snapshots.last?.content), pipeline))
            try Self.expectEffect(try #require(KillCommand.all.last), states)
            // A machine that is slow at times answers some of them as not durable.
            #expect(late.count <= 10, "\(late)")
            try Self.judge(log.snapshots, states, pipeline)
            guard case .ended = try await room.finish() else {
                Issue.record("the room continues")
                return
            }
            #expect(log.content == nil)
        }

        /// Checks that the state after a command has its effect and its revision, and the state before has neither.
        private static func expectEffect(_ command: KillCommand, _ states: [Resumption]) throws {
            let (before, after) = (states[states.count - 2], states[states.count - 1])
            #expect(after.refused.isEmpty, "\(command.name): \(after.refused)")
            #expect(after.state.revision == Int64(states.count), "\(command.name)")
            guard let shows = command.shows else { return }
            let text = String(decoding: after.state.bytes, as: UTF8.self)
            #expect(!shows(before) && shows(after), "\(command.name): \(text)")
        }

        private static func judge(_ snapshots: [WriteLog.Snapshot], _ states: [Resumption], _ pipeline: String) throws {
            #expect(snapshots.count >= 5 * KillCommand.all.count)
            for (index, snapshot) in snapshots.enumerated() {
                #expect(snapshot.step == WriteStep.allCases[index % WriteStep.allCases.count], "write \(index / 5)")
            }
            let known = states.map { Self.commanded($0) }
            // From here a power failure cannot lose it.
            var isSafe = 0
            for snapshot in snapshots {
                let place = "after \(snapshot.step) while command \(snapshot.sent) is written"
                let resumption = try KillRoom.resumption(snapshot.content, pipeline)
                #expect(!resumption.isSetAside && resumption.refused.isEmpty, "\(place): \(resumption.refused)")
                let state = Self.commanded(resumption)
                let isOld = snapshot.sent > 0 && state == known[snapshot.sent - 1]
                #expect(
                    isOld || state == known[snapshot.sent], "\(place): \(String(decoding: state.bytes, as: UTF8.self))")
                #expect(state.revision > Int64(snapshot.durable), "\(place): everything answered as durable is there")
                if snapshot.step == .directorySynchronized { isSafe = Int(state.revision) - 1 }
                #expect(snapshot.durable <= isSafe, "\(place): nothing was answered as durable before the disk had it")
                #expect(snapshot.names.allSatisfy { ["commands.json", ".commands.json.1.tmp"].contains($0) })
            }
        }

        // MARK: The whole room

        /// The commanded state as the room reports it.
        static func told(_ room: RoomHarness, settles: Bool = true) async throws -> [String: String] {
            var told: [String: String] = [:]
            let state = try await room.command(.get, "/v1/room", settles: settles)
            let paths = [
                ["title"], ["program", "scene"], ["pk", "phase"], ["pk", "endsAt"], ["pk", "scene"],
                ["pk", "endScene"],
                ["revision"],
            ]
            for path in paths {
                let node = path.reduce(JSONParser.parse(Array(state.body.utf8)).root) { $0?[key: $1] }
                told[path.joined(separator: ".")] = node?.text()
            }
            guard case .array(let sources)? = state.member("sources")?.content else { return told }
            for source in sources {
                let uid = source[key: "uid"]?.string ?? ""
                for key in ["videoPush", "audioPush", "volume", "refused"] {
                    told["\(uid).\(key)"] = source[key: key]?.text()
                }
                guard case .array(let relays)? = source[key: "relays"]?.content else { continue }
                told["\(uid).relays"] = relays.map { $0[key: "id"]?.string ?? "" }.sorted().joined(separator: " ")
            }
            let sceneList = try await room.command(.get, "/v1/scenes", settles: settles)
            guard case .array(let scenes)? = sceneList.member("scenes")?.content else { return told }
            for scene in scenes {
                told["scene \(scene[key: "sceneId"]?.string ?? "")"] =
                    "\(scene[key: "revision"]?.text() ?? "") \(scene[key: "uids"]?.text() ?? "")"
            }
            // A successor may write the members in another order.
            let document = try await room.command(.get, "/v1/document", settles: settles).body
            told["document"] = JSONParser.parse(Array(document.utf8)).root?.canonical.text()
            return told
        }

        /// Splits the table into as many parts as a write has steps. Each part ends with a command whose reply waits.
        private static func parts() -> [Range<Int>] {
            let (all, count) = (KillCommand.all, WriteStep.allCases.count)
            var parts: [Range<Int>] = []
            var start = 0
            for number in 1...count {
                var end = max(start + 1, all.count * number / count)
                while end < all.count, all[end - 1].reply == .soon { end += 1 }
                parts.append(start..<end)
                start = end
            }
            return parts
        }

        @Test(
            "five workers in a row are each killed at another step of a write; a command survives if its file was already renamed"
        )
        func chain() async throws {
            let directory = try RoomDirectory()
            defer { directory.remove() }
            let pipeline = KillRoom.pipeline(directory.path)
            var stop = WriteStop()
            var room = try await RoomHarness.open(pipeline) { [stop] in $0.commandsReached = { stop.reach($0) } }
            try await room.goLive(HarnessRooms.first, HarnessRooms.second)
            try await room.run(seconds: 3)
            // A successor shows slate only if viewers saw something before.
            try await offPool { [room] in try room.events.wait("segment.published") }
            for (step, part) in zip(WriteStep.allCases, Self.parts()) {
                let facts = Self.facts(room, directory)
                for command in KillCommand.all[part.dropLast()] {
                    try await Self.send(command, to: room, facts)
                    if command.reply == .soon { try await room.run(seconds: 0.2) }
                    // The source was kicked, and may publish again.
                    if command.name == "kick lifted" { try await room.goLive(HarnessRooms.second) }
                }
                // A worker that dies within the probation counts as crashed; after two of them a third restores only a part.
                try await room.run(seconds: Double(Resumption.probation / RoomHarness.second) + 1)
                let last = KillCommand.all[part.upperBound - 1]
                let isEnd = part.upperBound == KillCommand.all.count
                let before = try await Self.told(room)
                stop.arm(step)
                let isDurable = try await Self.send(last, to: room, facts, settles: false)
                #expect(!isDurable && stop.hasStopped, "\(last.name): the writer was stopped after \(step)")
                let isWritten = step == .renamed || step == .directorySynchronized
                let expected = isWritten && !isEnd ? try await Self.told(room, settles: false) : before
                room.kill()

                let (later, next) = (room.wall.now() + 3 * RoomHarness.second, WriteStop())
                stop = next
                room = try await RoomHarness.open(pipeline, at: later, isEnd ? .over : .slate) {
                    $0.commandsReached = { next.reach($0) }
                }
                if isEnd { break }
                let resumed = try #require(room.events.all("room.resumed").first)
                #expect(resumed.line.contains(#""notRestored":[]"#), "\(resumed)")
                let told = try await Self.told(room)
                for (member, value) in expected {
                    #expect(told[member] == value, "\(member), killed after \(step) of \(last.name)")
                }
                try await room.goLive(HarnessRooms.first, HarnessRooms.second)
                if !isWritten { try await Self.send(last, to: room, facts) }
            }
            guard case .ended = try await room.finish() else {
                Issue.record("the room continues in its last worker, although the one before was asked to end it")
                return
            }
            #expect(room.events.all("room.closed").map { $0.text("outcome") } == ["ended"])
        }
    }
}
