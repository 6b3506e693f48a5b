import ArgumentParser
import MediaTypes
import NIOHTTP1

/// The command `tandem ctl pk`.
extension CtlCommand {
    struct PK: AsyncParsableCommand {
        enum Verb: String, ExpressibleByArgument, CaseIterable { case start, punish, end }

        static let configuration = CommandConfiguration(
            commandName: "pk", abstract: "Start or end the PK, a contest of the room's hosts, or punish its loser.",
            discussion: """
                Scenes and durations that are not given to start are those of pk in the pipeline file. A room without pk
                needs --scene; then the PK lasts five minutes, and the scene that was on air before follows it.

                    tandem ctl pk start --scene pk --duration-ms 60000 -a http://127.0.0.1:8081
                """)
        @Argument(help: "start, punish (begin the punishment phase) or end.") var verb: Verb
        @Option(help: ArgumentHelp("Scene during the PK; its sources take part in the PK.", valueName: "scene-id"))
        var scene: String?
        @Option(help: ArgumentHelp("Scene during the countdown.", valueName: "scene-id")) var countdownScene: String?
        @Option(help: ArgumentHelp("Scene during the punishment.", valueName: "scene-id")) var punishScene: String?
        @Option(help: ArgumentHelp("Scene after the PK.", valueName: "scene-id")) var endScene: String?
        @Option(help: "Countdown before the PK, in ms; 0: none.") var countdownMs: Int?
        @Option(help: "Duration of the PK, in ms; 0: until ctl pk ends it.") var durationMs: Int?
        @Option(help: "Punishment phase, in ms; 0: none (start), or until pk end (punish).") var punishMs: Int?
        @OptionGroup var control: ControlOptions

        /// The given options, as members of the request's body.
        private var members: [JSONValue.Member] {
            let scenes = [
                ("scene", self.scene), ("countdownScene", self.countdownScene), ("punishScene", self.punishScene),
                ("endScene", self.endScene),
            ].compactMap { name, id in id.map { JSONValue.Member(name, .string($0)) } }
            let durations = [
                ("countdownMs", self.countdownMs), ("durationMs", self.durationMs), ("punishMs", self.punishMs),
            ].compactMap { name, time in time.map { JSONValue.Member(name, JSONValue($0)) } }
            return scenes + durations
        }

        func validate() throws {
            let known: [String] =
                switch self.verb {
                case .start: self.members.map(\.name)
                case .punish: ["punishMs"]
                case .end: []
                }
            guard let other = self.members.first(where: { !known.contains($0.name) }) else { return }
            throw ValidationError("pk \(self.verb.rawValue) does not accept \(other.name): give it to pk start")
        }

        func run() async throws {
            try await self.control.exchange(.POST, "/v1/pk:\(self.verb.rawValue)", .object(self.members))
        }
    }
}
