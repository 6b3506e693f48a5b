import ArgumentParser
import MediaTypes
import TerminalText

/// The command `tandem ctl watch`.
extension CtlCommand {
    struct Watch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show sources, levels, frame number, lag and alarms, once per second until the room ends.",
            discussion: """
                The view is redrawn in place on a terminal. In a pipe, a file or a terminal without cursor (TERM=dumb) it
                is a line per second, and with --json the reply to GET /v1/room. Waits ten seconds for a successor if the
                worker stops.

                    tandem ctl watch -a http://127.0.0.1:8081
                """)
        @OptionGroup var control: ControlOptions

        /// Seconds without an answer, not counting refusals with a status of ``passing``, after which the command fails.
        private static let patience = 10
        /// Refusals that pass by themselves: too many requests, and a worker that does not answer requests yet.
        private static let passing = [429, 503]

        func run() async throws {
            let client = try self.control.client
            var drawn = RedrawnLines()
            var state = try self.show(try await self.control.send(.GET, "/v1/room").body, &drawn)
            var answered = ContinuousClock.now
            while ContinuousClock.now - answered < .seconds(Self.patience) {
                try await Task.sleep(for: .seconds(1))
                guard let answer = try? await client.send(.GET, "/v1/room", seconds: 5) else {
                    if state == "ending" { return }
                    continue
                }
                if Self.passing.contains(answer.status) { continue }
                answered = .now
                // The room has ended, and only its viewers are served.
                if answer.status == 410 { return }
                guard answer.isGood else {
                    self.control.report(answer.body)
                    throw ExitCode(1)
                }
                state = try self.show(answer.body, &drawn)
                if state == "closed" { return }
            }
            StandardError.write(
                "\(self.control.address) has not answered for \(Self.patience) s. Fix: check whether the room has ended\n"
            )
            throw ExitStatus.unavailable.code
        }

        /// Prints the reply to `GET /v1/room`; returns the state of the room.
        private func show(_ reply: [UInt8], _ drawn: inout RedrawnLines) throws -> String {
            let room = JSONParser.parse(reply, limit: reply.count).faultless ?? .object([])
            let view = WatchView(style: TerminalOutput.style)
            if self.control.isForPeople, TerminalOutput.hasCursor {
                let (columns, rows) = TerminalOutput.size
                // The cursor is on the line below.
                try StandardOutput.write(drawn.text(view.lines(room, columns: columns, rows: max(1, rows - 1))))
            } else if self.control.json {
                try StandardOutput.write(String(decoding: reply, as: UTF8.self))
            } else {
                try StandardOutput.write(view.line(room) + "\n")
            }
            return room[key: "state"]?.string ?? ""
        }
    }
}
