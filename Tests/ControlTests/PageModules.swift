import Foundation
import HTTPListener
import HTTPTypes
import TestSupport
import Testing

import Control

/// The modules of the operator page, as the control API serves them, run by Node.
enum PageModules {
    /// Elements without a layout, as far as the modules need them when they are loaded.
    private static let document = """
        const made = new Map();
        function element() {
          const parts = new Map();
          return { dataset: {}, style: { setProperty() {} }, classList: { toggle() {} }, textContent: "", title: "", hidden: false,
            attributes: {}, getAttribute(name) { return this.attributes[name] ?? null; }, setAttribute(name, value) { this.attributes[name] = value; },
            addEventListener() {}, get parentElement() { return this; },
            querySelector: (name) => parts.get(name) || parts.set(name, element()).get(name) };
        }
        globalThis.document = { title: "", getElementById: (id) => made.get(id) || made.set(id, element()).get(id) };
        globalThis.input = JSON.parse((await import("node:fs")).readFileSync(0, "utf8"));
        """

    /// Runs a script that may import the page's modules by `./NAME.js` and prints one value as JSON.
    ///
    /// - Parameter input: JSON that the script finds in `input`.
    static func run<Value: Decodable>(_ script: String, input: String = "null") throws -> Value {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("page-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let responder = ControlResponder(
            room: FakeRoom(), guardian: AccessGuard(listen: .unix(path: "/a"), token: nil))
        for file in ControlPage.File.allCases where file.rawValue.hasSuffix(".js") && file != .player {
            let head = HTTPRequest(method: .get, scheme: "http", authority: "a", path: file.rawValue)
            guard case .bytes(let bytes, let range) = responder.reply(to: ListenerRequest(head: head)).body else {
                continue
            }
            try Data(bytes[range]).write(to: directory.appendingPathComponent(file.rawValue))
        }
        try Data(#"{"type":"module"}"#.utf8).write(to: directory.appendingPathComponent("package.json"))
        try Data(self.document.utf8).write(to: directory.appendingPathComponent("document.js"))
        let main = directory.appendingPathComponent("main.js")
        try Data("import \"./document.js\";\n\(script)".utf8).write(to: main)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try TestTool.require("node"))
        process.arguments = [main.path]
        let (stdin, stdout) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (stdin, stdout)
        try process.run()
        try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try stdin.fileHandleForWriting.close()
        let text = stdout.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return try JSONDecoder().decode(Value.self, from: text)
    }
}
