import Foundation
import TestSupport
import Testing

extension Unhurried.Frames {
    @Suite(
        "tandem manifest, checked with kubernetes-validate, systemd-analyze and docker; tandem plan; output and option errors"
    )
    struct LaunchTests {
        private static let rooms = ["solo", "pk-landscape", "pk-decorated", "guests", "ladder"]

        @Test(
            "kubernetes-validate accepts the Kubernetes manifests of five pipelines, and refuses one with a misspelt member",
            arguments: [[], ["--fail-fast", "--storage", "rooms"]])
        func kubernetes(more: [String]) throws {
            let judge = try EndToEnd.fetched("kubernetes-validate")
            let work = try WorkDirectory()
            var paths: [String] = []
            for room in Self.rooms {
                let made = try Command.tandem(
                    ["manifest", "\(EndToEnd.root)/pipelines/\(room).json", "--for", "k8s"] + more)
                #expect(made.code == 0, "\(made.errors)")
                paths.append(try work.write(made.output, to: "\(room).yaml"))
            }
            let verdict = try Command.run(judge, ["--strict"] + paths)
            #expect(verdict.code == 0, "\(verdict.output) \(verdict.errors)")
            // The schemas do find mistakes.
            let broken = try Command.tandem(["manifest", "\(EndToEnd.root)/pipelines/solo.json", "--for", "k8s"]).output
                .replacingOccurrences(of: "backoffLimit:", with: "backoffLimits:")
            #expect(try Command.run(judge, ["--strict", try work.write(broken, to: "broken.yaml")]).code != 0)
        }

        @Test("systemd-analyze verify accepts the systemd unit of tandem manifest")
        func systemd() throws {
            let judge = try TestTool.require("systemd-analyze")
            for room in ["pk-decorated", "ladder"] {
                let work = try WorkDirectory()
                let made = try Command.tandem(
                    [
                        "manifest", "\(EndToEnd.root)/pipelines/\(room).json", "--for", "systemd", "--out", work.path,
                        "--set", "room.roomId=r1",
                    ])
                #expect(made.code == 0, "\(made.errors)")
                let unit = "systemd/system/tandem@.service"
                // In this test the program is at another path, and verify looks for it.
                let text = try Files.text(work.path(unit)).replacingOccurrences(
                    of: "/usr/bin/tandem", with: "/bin/true")
                _ = try work.write(text, to: unit)
                let verdict = try Command.run(
                    judge, ["verify", "--man=no", "tandem@r1.service"],
                    environment: ["SYSTEMD_UNIT_PATH": "\(work.path)/systemd/system:"])
                // Complaints about this machine's other units do not count.
                let complaints = verdict.errors.split(separator: "\n").filter { $0.contains("tandem") }
                #expect(verdict.code == 0 && complaints.isEmpty, "\(room): \(verdict.errors)")
                let handedOn = try Command.tandem(["validate", "\(work.path)/tandem/r1.json"])
                #expect(handedOn.code == 0 || handedOn.errors.contains("r1.files"), "\(handedOn.errors)")
            }
        }

        @Test("if a manifest file cannot be written completely, the exit code is 73")
        func fullDisk() throws {
            let work = try WorkDirectory()
            try FileManager.default.createSymbolicLink(
                atPath: work.path("stack.yml"), withDestinationPath: "/dev/full")
            let made = try Command.tandem(
                ["manifest", "\(EndToEnd.root)/pipelines/solo.json", "--for", "swarm", "--out", work.path])
            #expect(made.code == 73 && made.errors.contains("stack.yml cannot be written"), "\(made)")
            #expect(made.output.isEmpty)
        }

        @Test(
            "a command whose write to standard output fails exits with 74 and reports it",
            arguments: [
                ["schema"], ["manifest", "solo.json", "--for", "k8s"], ["plan", "solo.json"],
                ["plan", "solo.json", "--json"],
                ["validate", "solo.json"], ["validate", "solo.json", "--format", "json"], ["lint-hls", "--rules"],
            ])
        func fullOutput(arguments: [String]) throws {
            let words = arguments.map { $0.hasSuffix(".json") ? "\(EndToEnd.root)/pipelines/\($0)" : $0 }
            let made = try Command.run("/bin/sh", ["-c", #"exec "$0" "$@" > /dev/full"#, EndToEnd.binary] + words)
            #expect(made.code == 74 && made.errors.contains("cannot write to standard output"), "\(made)")
        }

        @Test(
            "tandem plan and tandem manifest exit with 64 if the --viewers number is negative or too large",
            arguments: ["plan", "manifest"])
        func viewers(verb: String) throws {
            for count in ["9223372036854775807", "-1"] {
                let estimated = try Command.tandem(
                    [verb, "\(EndToEnd.root)/pipelines/solo.json", "--viewers=\(count)"]
                        + (verb == "manifest" ? ["--for", "k8s"] : []))
                #expect(estimated.code == 64 && estimated.errors.contains("--viewers \(count)"), "\(estimated)")
            }
        }

        @Test("docker stack config accepts the stack file of tandem manifest, and keeps its restart condition")
        func swarm() throws {
            let judge = try TestTool.require("docker")
            guard try Command.run(judge, ["stack", "config", "--help"]).code == 0 else {
                try TestTool.skip("docker stack config", "this docker has no such command")
            }
            for room in ["pk-decorated", "ladder"] {
                let work = try WorkDirectory()
                let made = try Command.tandem(
                    [
                        "manifest", "\(EndToEnd.root)/pipelines/\(room).json", "--for", "swarm", "--out", work.path,
                        "--storage", "/srv/rooms",
                    ])
                #expect(made.code == 0, "\(made.errors)")
                let stack = work.path("stack.yml")
                let verdict = try Command.run(
                    judge, ["stack", "config", "-c", stack], environment: ["TANDEM_STREAM_KEY": "from-here"])
                #expect(verdict.code == 0 && verdict.output.contains("condition: on-failure"), "\(verdict.errors)")
            }
        }

        @Test(
            "tandem plan estimates more CPU for more viewers; a broken calibration file exits with 65, a missing one with 66"
        )
        func plan() throws {
            let room = "\(EndToEnd.root)/pipelines/pk-landscape.json"
            let work = try WorkDirectory()
            func plan(_ arguments: [String]) throws -> Command.Result {
                try Command.run(
                    EndToEnd.binary, ["plan"] + arguments, environment: ["XDG_CACHE_HOME": work.path])
            }
            func cores(_ result: Command.Result) throws -> Int {
                let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
                return try #require(object?["cpuMillicores"] as? Int, "\(result.output) \(result.errors)")
            }
            let reference = try cores(plan([room, "--json"]))
            #expect((300...3000).contains(reference))
            #expect(try plan([room]).output.contains("encode[720p]"))
            let more = try cores(plan([room, "--json", "--viewers", "1000"]))
            #expect(more > reference)
            _ = try work.write("{}", to: "broken.json")
            #expect(try plan([room, "--calibration", work.path("broken.json")]).code == 65)
            #expect(try plan([room, "--calibration", work.path("none.json")]).code == 66)
            #expect(try plan([]).code == 64)
        }

        @Test(
            "tandem plan --calibrate ends within a minute, and a plan with the calibration file is for this machine",
            .enabled(if: ProcessInfo.processInfo.environment["TANDEM_CALIBRATE"] != nil, "by TANDEM_CALIBRATE=1"),
            .timeLimit(.minutes(2)))
        func calibration() throws {
            let work = try WorkDirectory()
            let file = work.path("deep/calibration.json")
            let start = Date()
            let result = try Command.tandem(["plan", "--calibrate", "--calibration", file], timeout: 90)
            let seconds = Date().timeIntervalSince(start)
            EndToEnd.report("calibration in \(seconds) s")
            #expect(result.code == 0, "\(result.errors)")
            expectTiming(seconds, atMost: 60, "seconds of the calibration")
            let room = "\(EndToEnd.root)/pipelines/pk-landscape.json"
            #expect(try Command.tandem(["plan", room, "--calibration", file]).output.contains("this machine"))
        }
    }
}

extension EndToEnd {
    /// A tool that `.ci/tools` has downloaded, or one of the machine. Without it, the current test ends as skipped.
    static func fetched(_ name: String) throws -> String {
        let path = "\(self.root)/.build/tools/bin/\(name)"
        return FileManager.default.isExecutableFile(atPath: path) ? path : try TestTool.require(name)
    }
}
