import ArgumentParser

struct HealthcheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "healthcheck",
        abstract: "Check the health of a room: exit code 0 or 1, for probes in images without curl.",
        discussion: """
            Without a flag, checks whether the worker's threads make progress (/livez). A room without media is healthy.

                tandem healthcheck http://127.0.0.1:8081
                tandem healthcheck unix:/run/tandem/88231/control.sock --ready
            """)

    @Argument(help: "The control address, as in \"control\" of the event room.ready.")
    var address: String

    @Flag(help: "Check whether publishers may be sent to the worker (/readyz).")
    var ready = false

    @Flag(help: "Check whether the worker's listeners are open (/startupz).")
    var started = false

    @Option(help: ArgumentHelp("Timeout for the answer (1…60).", valueName: "seconds"))
    var timeout: Int64 = 2

    func validate() throws {
        guard (1...60).contains(self.timeout) else {
            throw ValidationError("--timeout \(self.timeout): give seconds from 1 to 60")
        }
    }

    func run() async throws {
        let client = try ControlClient(self.address, tokenFile: nil)
        let path = self.ready ? "/readyz" : self.started ? "/startupz" : "/livez"
        do {
            let answer = try await client.send(.GET, path, seconds: self.timeout)
            // The exit code counts even if the output cannot be written.
            StandardOutput.tell(answer.text)
            if !answer.isGood { throw ExitCode(1) }
        } catch let code as ExitCode {
            throw code
        } catch {
            StandardError.write(
                "\(self.address) does not answer: \(ConnectionText.of(error)). Fix: check that the room runs, and that this is "
                    + "\"control\" of its event room.ready\n")
            throw ExitCode(1)
        }
    }
}
