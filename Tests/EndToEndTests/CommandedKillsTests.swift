import Foundation
import Glibc
import TestSupport
import Testing

extension Unhurried.Records {
    /// The long run: `TANDEM_COMMAND_KILLS=20 TANDEM_COMMAND_DRAINS=5 TANDEM_TEST_MINUTES=20`.
    @Suite("Workers killed or drained right after a command")
    struct CommandedKillsTests {
        private enum Means: String {
            case kill, drain

            var signal: Int32 { self == .kill ? SIGKILL : SIGTERM }
            var code: Int32 { self == .kill ? 137 : 143 }
        }

        /// The commands of one room after whose reply a worker ends, by their index in ``RoomCommand/all``.
        private typealias Plan = [(command: Int, means: Means)]

        private static func number(_ name: String, default value: Int) -> Int {
            ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? value
        }

        /// Spreads kills and drains over as few rooms as possible.
        ///
        /// If two workers in a row die within 30 s of restoring, the next one restores less. So a room has at most two
        /// kills, and no drain before both: the first worker has nothing to restore, and a drain ends the row.
        private static func plans(kills: Int, drains: Int, seed: UInt64) -> [Plan] {
            var random = TestRandom(seed: seed)
            var commands: [Int] = []
            return (0..<max((kills + 1) / 2, drains)).map { index in
                var means = [Means](repeating: .kill, count: max(0, min(2, kills - 2 * index)))
                if index < drains {
                    means.insert(.drain, at: Int.random(in: min(1, means.count)...means.count, using: &random))
                }
                // A room gets as many commands as it needs. No command is repeated before all have been picked.
                if commands.count < means.count { commands = RoomCommand.all.indices.shuffled(using: &random) }
                let picked = commands.prefix(means.count).sorted()
                commands.removeFirst(picked.count)
                return Array(zip(picked, means))
            }
        }

        /// Results of all rooms.
        private struct Tally {
            var kills = 0
            var drains = 0
            /// Commands whose reply said that they were not yet on disk.
            var late = 0
            var frames = 0
            var faults: [String] = []
        }

        @Test("the list of control commands after which tests kill workers has at least 40, all with different names")
        func table() {
            #expect(RoomCommand.all.count >= 40)
            #expect(Set(RoomCommand.all.map(\.name)).count == RoomCommand.all.count)
        }

        @Test(
            "after a kill or drain right after a command, the successor restores durable commands, and hidden sources stay hidden"
        )
        func behindCommands() throws {
            let media = try Media.require()
            let seed = Self.number("TANDEM_COMMAND_SEED", default: 26)
            let (kills, drains) = (
                Self.number("TANDEM_COMMAND_KILLS", default: 2), Self.number("TANDEM_COMMAND_DRAINS", default: 1)
            )
            let start = Date()
            var tally = Tally()
            for plan in Self.plans(kills: kills, drains: drains, seed: UInt64(truncatingIfNeeded: seed)) {
                let work = try WorkDirectory()
                var run = try Run(CommandedRoomFile(directory: work.path("out")), media)
                let ends = plan.map { "\($0.means) behind \(RoomCommand.all[$0.command].name)" }
                EndToEnd.report("a room with \(ends.joined(separator: ", "))")
                try run.run(plan)
                try run.judge()
                tally.kills += plan.count { $0.means == .kill }
                tally.drains += plan.count { $0.means == .drain }
                tally.late += run.late
                tally.frames += run.frames
                tally.faults += run.faults
            }
            EndToEnd.report(
                "seed \(seed): \(tally.kills) kills and \(tally.drains) drains, \(tally.late) replies that were not durable, "
                    + "\(tally.frames) frames decoded, \(tally.faults.count) faults, "
                    + "\(Int(Date().timeIntervalSince(start))) s")
            #expect(tally.faults.isEmpty)
            #expect(tally.kills == kills && tally.drains == drains)
        }

        /// One room and its workers, one after another.
        private struct Run {
            let file: CommandedRoomFile
            let media: Media
            var room: RunningRoom
            var publishers: [Publisher]
            var spans: [HiddenSpan] = []
            var late = 0
            var frames = 0
            var faults: [String] = []
            /// Program time of the first command and of the last worker's publishers, in seconds.
            var first = 0.0
            var last = 0.0

            init(_ file: CommandedRoomFile, _ media: Media) throws {
                (self.file, self.media) = (file, media)
                let room = try RunningRoom(file.pipeline(), allowsLoopback: false)
                self.room = room
                self.publishers = try ColoredPublisher.all.map { try $0.publish(to: room, media) }
                for publisher in ColoredPublisher.all { try self.room.event("source.live", uid: publisher.uid) }
                // All three are seen and heard, so that the check at the end finds them.
                try self.room.segments(1, countsShort: true)
            }

            mutating func run(_ plan: Plan) throws {
                self.first = Double(try CommandedFacts(self.room, self.file.directory).tick) / 30
                var next = 0
                for (index, means) in plan {
                    for command in RoomCommand.all[next..<index] { try self.send(command) }
                    try self.end(RoomCommand.all[index], means)
                    next = index + 1
                }
                // More than one segment of the last worker.
                try self.room.segments(2)
                if try self.room.end() != 0 { self.faults.append("the room did not end") }
                for publisher in self.publishers { publisher.stop(SIGKILL) }
            }

            /// Sends a command and waits until the room shows its effect.
            private mutating func send(_ command: RoomCommand) throws {
                _ = try self.ask(command)
                try command.waitForEffect(self.room, self.file)
            }

            /// - Returns: The facts before the command, and whether the reply says that it is on disk.
            private mutating func ask(_ command: RoomCommand) throws -> (before: CommandedFacts, isDurable: Bool) {
                let start = Date()
                let before = try CommandedFacts(self.room, self.file.directory)
                let reply = try command.send(self.room, self.file)
                guard reply.status == 200 else { throw Missing("\(command.name): \(reply.body)") }
                // No later frame than this was composed before the reply.
                let answered = Double(before.tick + 1) / 30 + Date().timeIntervalSince(start)
                self.note(command.visibility, from: Double(before.tick) / 30, answered)
                let isDurable = !reply.body.contains(#""durable":false"#)
                if !isDurable { self.late += 1 }
                return (before, isDurable)
            }

            private mutating func note(_ visibility: RoomCommand.Visibility?, from sent: Double, _ answered: Double) {
                guard let visibility else { return }
                func note(_ shows: Bool?, _ spans: inout [HiddenSpan], video: Bool) {
                    guard let shows else { return }
                    guard shows else {
                        return spans.append(
                            HiddenSpan(
                                publisher: visibility.publisher, hidesVideo: video, hidesAudio: !video, start: answered)
                        )
                    }
                    for index in spans.indices
                    where spans[index].publisher.uid == visibility.publisher.uid && spans[index].hidesVideo == video
                        && spans[index].end == .infinity
                    {
                        spans[index].end = sent
                    }
                }
                note(visibility.showsVideo, &self.spans, video: true)
                note(visibility.playsAudio, &self.spans, video: false)
            }

            /// Ends a worker as soon as it has answered a command, and compares the facts that its successor reports.
            private mutating func end(_ command: RoomCommand, _ means: Means) throws {
                let (before, isDurable) = try self.ask(command)
                if command.durability == .soon { Thread.sleep(forTimeInterval: 0.2) }
                if try self.room.terminate(means.signal) != means.code {
                    self.faults.append("\(means): another exit code")
                }
                for publisher in self.publishers { publisher.stop(SIGKILL) }

                let room = try RunningRoom(self.file.pipeline(), allowsLoopback: false)
                self.room = room
                let resumed = try room.event("room.resumed")
                let place = "\(means) behind \(command.name)"
                if !resumed.line.contains(#""notRestored":[]"#) { self.faults.append("\(place): \(resumed.line)") }
                self.publishers = try ColoredPublisher.all.map { try $0.publish(to: room, self.media) }
                let isKicked = before["4004.isRefused"] == "true" || command.name == "kick"
                for publisher in ColoredPublisher.all where !isKicked || publisher.uid != "4004" {
                    try room.event("source.live", uid: publisher.uid)
                }
                if isKicked { try room.event("ingest.refused") }
                let after = try CommandedFacts(room, self.file.directory)
                self.last = Double(after.tick) / 30
                if isDurable, !command.shows(after) { self.faults.append("\(place): its effect is lost") }
                let replies = command.idempotencyKey == nil ? [] : ["file.replies"]
                for difference in after.differences(from: before, except: command.changes + replies) {
                    self.faults.append("\(place): \(difference)")
                }
                // A scene that a command replaced keeps its revision, and so does the room.
                if after.revision < before.revision + (isDurable ? 1 : 0) {
                    self.faults.append("\(place): revision \(before.revision) became \(after.revision)")
                }
                if !isDurable, !command.shows(after) { try self.send(command) }
            }

            /// Checks each frame that viewers got, and all of the audio.
            mutating func judge() throws {
                let output = try ColoredOutput(self.file.directory, self.media)
                self.frames = output.colors.times.count
                for publisher in ColoredPublisher.all {
                    let shown = output.shows(publisher, to: self.first)
                    #expect(shown.frames >= 10, "the test finds \(publisher.color.rawValue) while it is shown")
                    #expect(shown.amplitude ?? 0 >= 0.03, "the test finds \(publisher.hertz) Hz while it is heard")
                }
                for span in self.spans {
                    let (frames, amplitude) = output.faults(span)
                    let place = "\(span.publisher.color.rawValue) from \(span.start) s to \(span.end) s"
                    if !frames.isEmpty { self.faults.append("\(place): shown at \(frames.prefix(20)) s") }
                    if let amplitude, amplitude > 0.003 { self.faults.append("\(place): heard, \(amplitude)") }
                }
                for fault in self.faults { Issue.record("\(fault)") }
                let isHidden = self.spans.contains { $0.publisher.uid == "1001" && $0.end == .infinity }
                let host = output.shows(.host, from: self.last)
                #expect(isHidden || host.frames >= 30, "the last worker shows the publisher that no command hides")
                #expect((output.colors.times.last ?? 0) - self.last >= 1)
            }
        }
    }
}
