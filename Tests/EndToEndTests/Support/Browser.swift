import Foundation
import Glibc
import TestSupport
import Testing

/// A headless Chromium, driven by the DevTools protocol over two pipes (`--remote-debugging-pipe`): no port, no library.
final class Browser: @unchecked Sendable {
    // @unchecked Sendable: `condition` guards all mutable state.
    private let child: Child
    private let profile: WorkDirectory
    private let condition = NSCondition()
    private var answers: [Int: [String: Any]] = [:]
    private var lastID = 0
    private var isOpen = true
    private var complaints: [String] = []
    /// By session.
    private var logged: [String: [String]] = [:]
    /// By session.
    private var mediaLogs: [String: [String]] = [:]

    /// The path of this machine's Chromium; nil if it has none.
    static var path: String? {
        ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].lazy
            .compactMap { TestTool.path($0) }.first
    }

    /// Starts Chromium. If this machine has none, then the current test ends as skipped.
    static func start(sourceLocation: SourceLocation = #_sourceLocation) throws -> Browser {
        guard let path = Self.path else {
            try TestTool.skip(
                "chromium", "it is not installed (Debian: chromium-headless-shell)", sourceLocation: sourceLocation)
        }
        return try Browser(path)
    }

    private init(_ path: String) throws {
        self.profile = try WorkDirectory()
        // The protocol uses descriptors 3 and 4.
        self.child = try Child(
            "/bin/sh",
            [
                "-c", #"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>&2"#, path, "--headless", "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-sync",
                "--disable-component-update", "--disable-background-timer-throttling", "--mute-audio",
                "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows",
                "--autoplay-policy=no-user-gesture-required", "--user-data-dir=\(self.profile.path)",
                "--window-size=1000,700", "--remote-debugging-pipe", "about:blank",
            ], keepsInput: true, readsOutput: false)
        Thread.detachNewThread { [child, weak self] in
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = Glibc.read(child.output, &chunk, chunk.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                bytes += chunk[..<count]
                while let end = bytes.firstIndex(of: 0) {
                    self?.took(Data(bytes[..<end]))
                    bytes.removeSubrange(...end)
                }
            }
            self?.ended()
        }
    }

    deinit { self.child.signal(SIGKILL) }

    /// Ends it and waits, so that its files can be deleted.
    func close() {
        _ = try? self.call("Browser.close")
        if (try? self.child.wait(timeout: 5)) == nil { self.child.stop(SIGKILL) }
    }

    /// Exceptions and crashes of its pages.
    var errors: [String] { self.locked { self.complaints } }

    /// The errors in the console of a tab: exceptions, failed requests, refusals by a policy.
    func consoleErrors(_ session: String) -> [String] { self.locked { self.logged[session] ?? [] } }

    /// What it has logged about the players in a tab; see ``MediaLog``. Chromium keeps about the newest hundred entries,
    /// and sends them when a test first asks.
    func mediaLog(_ session: String) throws -> [String] {
        try self.call("Media.enable", [:], session)
        return self.locked { self.mediaLogs[session] ?? [] }
    }

    /// Opens an address in a new tab that has the probe script.
    func open(_ url: String) throws -> Tab {
        let made = try self.call("Target.createTarget", ["url": "about:blank", "newWindow": true])
        guard let target = made["targetId"] as? String,
            let session = try self.call("Target.attachToTarget", ["targetId": target, "flatten": true])["sessionId"]
                as? String
        else { throw Missing("no tab: \(made)") }
        let tab = Tab(browser: self, session: session)
        for domain in ["Page", "Runtime", "Inspector", "Log"] { try self.call("\(domain).enable", [:], session) }
        let probe = try Files.text("\(EndToEnd.root)/Tests/EndToEndTests/Scripts/probe.js")
        try self.call("Page.addScriptToEvaluateOnNewDocument", ["source": probe], session)
        try self.call("Page.navigate", ["url": url], session)
        return tab
    }

    /// Sends one command and returns its result.
    @discardableResult
    func call(
        _ method: String, _ parameters: [String: Any] = [:], _ session: String? = nil, timeout: Double = 20
    ) throws -> [String: Any] {
        var message: [String: Any] = ["method": method, "params": parameters]
        if let session { message["sessionId"] = session }
        let id = self.locked {
            self.lastID += 1
            return self.lastID
        }
        message["id"] = id
        self.child.send(Array(try JSONSerialization.data(withJSONObject: message)) + [0])
        let deadline = Date(timeIntervalSinceNow: timeout)
        self.condition.lock()
        defer { self.condition.unlock() }
        while self.answers[id] == nil {
            guard self.isOpen, self.condition.wait(until: deadline) else {
                throw Missing("the browser did not answer \(method); its output: \(self.child.errors.suffix(800))")
            }
        }
        let answer = self.answers.removeValue(forKey: id) ?? [:]
        if let error = answer["error"] { throw Missing("\(method): \(error)") }
        return answer["result"] as? [String: Any] ?? [:]
    }

    private func took(_ data: Data) {
        guard let message = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else { return }
        self.locked {
            if let id = message["id"] as? Int {
                self.answers[id] = message
            } else if let method = message["method"] as? String,
                ["Inspector.targetCrashed", "Runtime.exceptionThrown"].contains(method)
            {
                self.complaints.append(String(decoding: data.prefix(600), as: UTF8.self))
                self.note(message)
            } else if let method = message["method"] as? String,
                ["Log.entryAdded", "Runtime.consoleAPICalled"].contains(method)
            {
                self.note(message)
            } else if let method = message["method"] as? String, method.hasPrefix("Media.") {
                self.mediaLogs[message["sessionId"] as? String ?? "", default: []] += MediaLog.lines(message)
            }
            self.condition.broadcast()
        }
    }

    /// Notes an error for ``consoleErrors(_:)``; called with the lock.
    private func note(_ message: [String: Any]) {
        let parameters = message["params"] as? [String: Any] ?? [:]
        let entry = parameters["entry"] as? [String: Any]
        let level = entry?["level"] as? String ?? parameters["type"] as? String ?? "error"
        guard level == "error" else { return }
        let text = [entry?["text"], entry?["url"]].compactMap { $0 as? String }.joined(separator: " ")
        self.logged[message["sessionId"] as? String ?? "", default: []].append(text.isEmpty ? "\(parameters)" : text)
    }

    private func ended() {
        self.locked {
            self.isOpen = false
            self.condition.broadcast()
        }
    }

    private func locked<T>(_ body: () -> T) -> T {
        self.condition.lock()
        defer { self.condition.unlock() }
        return body()
    }
}

/// One page of a ``Browser``.
struct Tab: Sendable {
    let browser: Browser
    let session: String

    /// The value of an expression as text; an expression that yields a promise is awaited.
    @discardableResult
    func evaluate(_ expression: String) throws -> String {
        let answer = try self.browser.call(
            "Runtime.evaluate", ["expression": expression, "returnByValue": true, "awaitPromise": true], self.session)
        if let exception = answer["exceptionDetails"] { throw Missing("\(expression.prefix(80)): \(exception)") }
        let value = (answer["result"] as? [String: Any])?["value"]
        return value.map { "\($0)" } ?? ""
    }

    /// The errors in its console.
    var consoleErrors: [String] { self.browser.consoleErrors(self.session) }

    /// Waits until an expression is true, at most `seconds`.
    ///
    /// - Returns: Whether it was true in time.
    func wait(_ condition: String, seconds: Double = 15) throws -> Bool {
        try self.evaluate(
            """
            new Promise((done) => {
              const end = performance.now() + \(seconds) * 1000;
              const look = () => {
                let isTrue = false;
                try { isTrue = Boolean(\(condition)); } catch {}
                if (isTrue || performance.now() > end) done(isTrue); else setTimeout(look, 20);
              };
              look();
            })
            """) == "1"
    }

    /// Presses and releases a key, such as `l` or `ArrowLeft`.
    func press(_ key: String) throws {
        var press: [String: Any] = ["type": "keyDown", "key": key]
        if key.count == 1 { press["text"] = key }
        try self.browser.call("Input.dispatchKeyEvent", press, self.session)
        try self.browser.call("Input.dispatchKeyEvent", ["type": "keyUp", "key": key], self.session)
    }

    /// The whole page as a PNG.
    func screenshot(to path: String) throws {
        let answer = try self.browser.call("Page.captureScreenshot", ["format": "png"], self.session)
        guard let text = answer["data"] as? String, let data = Data(base64Encoded: text) else {
            throw Missing("no screenshot")
        }
        try data.write(to: URL(fileURLWithPath: path))
    }

    /// The tiles that the probe has collected as a PNG.
    func contactSheet(to path: String) throws {
        let text = try self.evaluate("probe.sheet ? probe.sheet.toDataURL('image/png') : ''")
        guard let data = text.split(separator: ",").last.flatMap({ Data(base64Encoded: String($0)) }), !data.isEmpty
        else {
            throw Missing("no contact sheet")
        }
        try data.write(to: URL(fileURLWithPath: path))
    }

    func report() throws -> PlayerReport { try PlayerReport(self.evaluate("probe.report()")) }

    /// Waits until its player plays or has given up, at most ten seconds.
    func awaitPlaying() throws {
        try self.evaluate(
            """
            new Promise((done) => {
              const look = () => {
                if (probe.startedAt !== null || probe.errors.some((error) => error.fatal)) done();
                else setTimeout(look, 50);
              };
              look();
              setTimeout(done, 10000);
            })
            """)
    }

    /// Prints the errors of a report, and the browser's log if the player has given up.
    ///
    /// - Returns: The lines of the browser's log.
    @discardableResult
    func tell(_ report: PlayerReport, _ way: Watching) -> [String] {
        for error in report.errors { EndToEnd.report("\(way.rawValue) \(error)") }
        guard report.errors.contains(where: { $0.fatal == true }) else { return [] }
        let lines = (try? self.browser.mediaLog(self.session)) ?? []
        for line in lines { EndToEnd.report("\(way.rawValue) \(line)") }
        return lines
    }
}
