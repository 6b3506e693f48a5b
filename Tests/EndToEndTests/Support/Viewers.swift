import Foundation
import TestSupport
import Testing

/// How a browser plays a room.
enum Watching: String, CaseIterable {
    case native = "native"
    case hlsJS = "hls.js"
    /// The room's own page, with its own player.
    case page = "page"
}

/// Serves what browsers open: the player page, and hls.js if it is available.
final class Viewers: Sendable {
    let browser: Browser
    let pages: PageServer
    /// Whether hls.js is available.
    let hasHLSJS: Bool

    /// Starts a browser. If this machine has none, then the current test ends as skipped.
    ///
    /// - Parameter needsHLSJS: True: the test is also skipped without hls.js. False: it runs without that player.
    static func start(needsHLSJS: Bool = false) throws -> Viewers {
        let viewers = try Viewers(try Browser.start())
        guard !viewers.hasHLSJS else { return viewers }
        if needsHLSJS { try TestTool.skip("hls.js", "run .ci/players") }
        TestTool.noteMissing("hls.js", "run .ci/players")
        return viewers
    }

    /// Starts a browser; nil if there is no Chromium. That, and a missing hls.js, is recorded. For tests that have other
    /// checks as well.
    static func find() throws -> Viewers? {
        guard Browser.path != nil else {
            TestTool.noteMissing("chromium")
            return nil
        }
        return try self.start()
    }

    private init(_ browser: Browser) throws {
        self.browser = browser
        let fetched = try Command.run("\(EndToEnd.root)/.ci/players", [], timeout: 150)
        if fetched.code != 0 { print(fetched.errors) }
        self.hasHLSJS = fetched.code == 0
        let scripts = "\(EndToEnd.root)/Tests/EndToEndTests/Scripts"
        var files = ["/player.html": ("text/html", [UInt8](try Files.bytes("\(scripts)/player.html")))]
        if self.hasHLSJS {
            files["/hls.mjs"] = ("text/javascript", [UInt8](try Files.bytes("\(EndToEnd.root)/.build/players/hls.mjs")))
        }
        self.pages = try PageServer(files)
    }

    deinit { self.browser.close() }

    /// The players that are available on this machine.
    var ways: [Watching] { Watching.allCases.filter { self.hasHLSJS || $0 != .hlsJS } }

    /// Opens the room in a tab.
    ///
    /// - Parameters:
    ///   - viewer: The viewers' address, `http://…`.
    ///   - config: Configuration of hls.js, as JSON.
    ///   - size: Frame size of the pattern whose clock is read.
    func watch(
        _ viewer: String, _ way: Watching, config: String = "{}", size: (Int, Int) = (640, 360)
    ) throws -> Tab {
        let wish = "{\"url\":\"\(viewer)/index.m3u8\",\"player\":\"\(way.rawValue)\",\"config\":\(config)}"
        let hash = wish.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let tab = try self.browser.open(way == .page ? "\(viewer)/" : "\(self.pages.address)/player.html#\(hash)")
        try tab.evaluate("probe.pattern = { width: \(size.0), height: \(size.1) }; ''")
        return tab
    }
}
