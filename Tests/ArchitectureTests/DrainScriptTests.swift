import Foundation
import TestSupport
import Testing

/// Runs the script with a program in place of `kubectl`, which keeps its cluster in files: `rooms` (a line for each pod on the node),
/// `spares` (the node of each placeholder), `replicas`, `unschedulable`, and `calls` (cordon, uncordon and drain commands, and deletions
/// of room pods).
@Suite("deploy/kubernetes/drain moves the rooms of a node and drains it; if that fails, it uncordons the node")
struct DrainScriptTests {
    private static let kubectl = """
        #!/bin/bash
        [ ! -e failing ] || ! grep -qxF -f failing <<< "$(tr ' ' '\\n' <<< "$*")" || { echo "the server said no" >&2; exit 1; }
        case "$*" in
            "get node "*) cat unschedulable ;;
            cordon* | uncordon* | "drain "*) echo "$1 $2" >> calls ;;
            *" delete pods "*) sed -i '/^n1$/d' spares; cat later >> spares 2> /dev/null; true ;;
            *" delete pod "*) echo "delete $5" >> calls; sed -i "/^$5 /d" rooms ;;
            *" get deployments "*) cat replicas ;;
            *tandem-spare*) cat spares ;;
            *spec.nodeName=*) cat rooms ;;
            *" get pods "*) [ -e stuck ] || echo "successor True" ;;
            *" get jobs "*) ;;
            *) echo "unexpected: $*" >&2; exit 64 ;;
        esac

        """

    /// Runs `drain -p 2 -t 1 n1`: two rooms at a time, with a timeout of one second.
    ///
    /// - Parameter files: Content of files of the cluster; others have defaults.
    /// - Returns: The exit code, everything printed, and the lines of `calls`.
    private static func drain(_ files: [String: String]) throws -> (code: Int32, output: String, calls: [String]) {
        let bash = try TestTool.require("bash")
        let place = URL(fileURLWithPath: NSTemporaryDirectory() + "tandem-drain-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let usual = [
            "kubectl": Self.kubectl, "rooms": "p1 88231\np2 88232\np3 88233\n", "spares": "", "replicas": "",
            "unschedulable": "", "calls": "",
        ]
        for (name, text) in usual.merging(files, uniquingKeysWith: { $1 }) {
            try text.write(to: place.appendingPathComponent(name), atomically: true, encoding: .utf8)
        }
        let program = place.appendingPathComponent("kubectl").path
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: bash)
        let script = SourceTree.root.appendingPathComponent("deploy/kubernetes/drain").path
        process.arguments = [script, "-p", "2", "-t", "1", "n1"]
        process.currentDirectoryURL = place
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        process.environment = ["PATH": "\(place.path):\(path)"]
        (process.standardOutput, process.standardError) = (pipe, pipe)
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let calls = try String(contentsOf: place.appendingPathComponent("calls"), encoding: .utf8)
        return (process.terminationStatus, output, calls.split(separator: "\n").map(String.init))
    }

    private static let moves = ["cordon n1", "delete p1", "delete p2", "delete p3", "drain n1"]

    @Test("the drain script cordons the node, deletes each room's pod, reports it as moved, and drains the node")
    func moved() throws {
        let result = try Self.drain([:])
        #expect(result.code == 0 && result.calls == Self.moves, "\(result)")
        for room in ["88231", "88232", "88233"] { #expect(result.output.contains("room \(room): moved\n")) }
    }

    @Test(
        "a batch of two rooms moves also if the cluster has only one placeholder pod; placeholders on the drained node move to other nodes"
    )
    func fewPlaceholders() throws {
        let elsewhere = try Self.drain(["replicas": "1", "spares": "n2\n"])
        #expect(elsewhere.code == 0 && elsewhere.calls == Self.moves, "\(elsewhere)")
        let here = try Self.drain(["replicas": "2", "spares": "n1\nn2\n", "later": "n3\n"])
        #expect(here.code == 0 && here.calls == Self.moves, "\(here)")
    }

    @Test("if no placeholder runs on another node, the drain script moves no room and uncordons the node")
    func noCapacity() throws {
        let result = try Self.drain(["replicas": "1", "spares": "n1\n"])
        #expect(result.code == 1 && result.calls == ["cordon n1", "uncordon n1"], "\(result)")
        #expect(result.output.contains("0 of 1 placeholders"))
    }

    @Test(
        "if a room does not become ready elsewhere, the script stops before the next batch of rooms and uncordons the node"
    )
    func stuck() throws {
        let result = try Self.drain(["stuck": ""])
        #expect(result.code == 1, "\(result)")
        #expect(result.calls == ["cordon n1", "delete p1", "delete p2", "uncordon n1"], "\(result)")
        #expect(result.output.contains("room 88231 is not ready on another node after 1 s"))
    }

    @Test(
        "if kubectl cannot list the rooms of the node, the script fails and uncordons the node instead of draining it")
    func failing() throws {
        // The argument only occurs in the request for the rooms of the node.
        let result = try Self.drain(["failing": "spec.nodeName=n1,status.phase=Running\n"])
        #expect(result.code == 1 && result.calls == ["cordon n1", "uncordon n1"], "\(result)")
        #expect(
            result.output.contains("the server said no") && result.output.contains("cannot read the rooms of node n1"))
    }

    @Test("a failed drain does not uncordon a node that was cordoned before; a node that cannot be read is not changed")
    func before() throws {
        let cordoned = try Self.drain(["unschedulable": "true", "stuck": ""])
        #expect(cordoned.code == 1 && !cordoned.calls.contains("uncordon n1"), "\(cordoned)")
        let unknown = try Self.drain(["failing": "node\n"])
        #expect(unknown.code == 1 && unknown.calls.isEmpty, "\(unknown)")
    }
}
