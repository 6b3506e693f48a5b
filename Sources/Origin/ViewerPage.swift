import CPages
package import HTTPListener
import HTTPTypes
import MediaTypes

/// The player page at `/` and `/embed` of the playback listener: one HTML document with a style sheet and JavaScript
/// modules beside it.
package struct ViewerPage: Sendable {
    /// What the page of a room contains.
    package struct Options: Sendable, Hashable {
        /// Title of the room; any text.
        package var title: String
        /// File name of the multivariant playlist.
        package var playlist = "index.m3u8"
        /// Whether the page offers playback over WebRTC.
        package var hasWebRTC = false
        /// URI of an external key server; `nil`: keys come from the page's own server.
        package var keyURI: String?
        /// File name of a still image of the program, which the page shows when it plays only audio; `nil` for none.
        package var still: String?
        /// File name of the index of thumbnails for the seek bar; `nil` for none.
        package var thumbnails: String?
        /// URL of the recording that the page offers when the room has ended; `nil` for none.
        package var recording: String?
        /// Length of the window in seconds, if playlists with `-dvr` in their names list it and the live ones list only its
        /// end; `nil` if the live playlists list all of it.
        package var wholeWindow: Int?
        /// Origins whose pages may show this page in a frame; `*` allows every page, an empty list none.
        package var embedOrigins: [String] = []

        package init(title: String) { self.title = title }
    }

    /// The page's files besides the document, by path. No object of a room has such a name.
    package enum File: String, Hashable, CaseIterable, Sendable {
        case style = "/page.css"
        case page = "/page.js"
        case words = "/words.js"
        case screen = "/screen.js"
        case session = "/session.js"
        case lowDelay = "/lowdelay.js"
        case status = "/status.js"
        case controls = "/controls.js"
        case seekBar = "/seekbar.js"
        case thumbnails = "/thumbnails.js"
        case figures = "/figures.js"
        case captions = "/captions.js"
        case requests = "/requests.js"
        case playlist = "/playlist.js"
        case track = "/track.js"
        case player = "/player.js"
        case native = "/native.js"
        case webRTC = "/webrtc.js"

        /// The file's text.
        package var text: String {
            switch self {
            case .style: String(cString: tandem_viewer_page_css())
            case .page: String(cString: tandem_viewer_page_js())
            case .words: String(cString: tandem_viewer_words_js())
            case .screen: String(cString: tandem_viewer_screen_js())
            case .session: String(cString: tandem_viewer_session_js())
            case .lowDelay: String(cString: tandem_viewer_lowdelay_js())
            case .status: String(cString: tandem_viewer_status_js())
            case .controls: String(cString: tandem_viewer_controls_js())
            case .seekBar: String(cString: tandem_viewer_seekbar_js())
            case .thumbnails: String(cString: tandem_viewer_thumbnails_js())
            case .figures: String(cString: tandem_viewer_figures_js())
            case .captions: String(cString: tandem_viewer_captions_js())
            case .requests: String(cString: tandem_viewer_requests_js())
            case .playlist: String(cString: tandem_viewer_playlist_js())
            case .track: String(cString: tandem_viewer_track_js())
            case .player: String(cString: tandem_viewer_player_js())
            case .native: String(cString: tandem_viewer_native_js())
            case .webRTC: String(cString: tandem_viewer_webrtc_js())
            }
        }

        /// The reply with this file.
        package var reply: ListenerReply {
            ListenerReply(
                .ok,
                fields: [
                    .contentType: self == .style ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8",
                    .cacheControl: "no-cache",
                ], body: .bytes(Array(self.text.utf8)))
        }
    }

    private let document: [UInt8]
    private let embedded: [UInt8]
    private let contentSecurityPolicy: String

    package init(_ options: Options) {
        self.document = Array(Self.html(options).utf8)
        self.embedded = Array(Self.html(options, isEmbedded: true).utf8)
        self.contentSecurityPolicy = Self.contentSecurityPolicy(
            keyURI: options.keyURI, embedOrigins: options.embedOrigins)
    }

    /// Returns the reply to a request for the page or one of its files; `nil` if the path is none of them.
    package func reply(path: String) -> ListenerReply? {
        if let file = File(rawValue: path) { return file.reply }
        let isEmbedded = path == "/embed"
        guard isEmbedded || path == "/" || path == "/index.html" else { return nil }
        var fields: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .cacheControl: "no-cache",
            .contentSecurityPolicy: self.contentSecurityPolicy,
        ]
        // The URL may have a signature in it.
        if let name = HTTPField.Name("Referrer-Policy") { fields[name] = "no-referrer" }
        return ListenerReply(.ok, fields: fields, body: .bytes(isEmbedded ? self.embedded : self.document))
    }

    /// Returns the content security policy of the player page: no inline scripts and styles, and nothing from other
    /// servers except decryption keys. `blob:` is the media source of the page's own player.
    ///
    /// - Parameters:
    ///   - keyURI: URI of an external key server; `nil`: keys come from the page's own server.
    ///   - embedOrigins: See ``Options/embedOrigins``. An origin with unusual characters is left out.
    package static func contentSecurityPolicy(keyURI: String? = nil, embedOrigins: [String] = []) -> String {
        let keys = keyURI.flatMap { self.origin(of: $0) }.map { " \($0)" } ?? ""
        let ancestors = embedOrigins.compactMap { $0 == "*" ? $0 : self.origin(of: $0, marks: "-.:*") }
        return "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'\(keys); "
            + "media-src 'self' blob:; img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors \(ancestors.isEmpty ? "'none'" : ancestors.joined(separator: " "))"
    }

    /// Returns scheme, host and port of a URL as a content security policy lists them, such as `https://keys.example`;
    /// `nil` if the URL is not HTTP or HTTPS, has no host, or has unusual characters in it.
    ///
    /// - Parameter marks: Characters that scheme, host and port may have besides letters and digits.
    package static func origin(of url: String, marks: String = "-.:[]") -> String? {
        guard let scheme = ["https://", "http://"].first(where: { url.hasPrefix($0) }) else { return nil }
        let authority = url.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return !authority.isEmpty && authority.isPlain(marks: marks) ? scheme + authority : nil
    }

    /// Returns the HTML of the player page.
    ///
    /// - Parameter isEmbedded: Whether the page is shown in a frame: only the player, without title and playlist URL.
    package static func html(_ options: Options, isEmbedded: Bool = false) -> String {
        let values = [
            "embed": isEmbedded ? "embed" : "page", "whep": options.hasWebRTC ? "whep" : "",
            "still": options.still ?? "", "thumbnails": options.thumbnails ?? "", "playlist": options.playlist,
            "recording": options.recording ?? "", "title": options.title,
            "window": options.wholeWindow.map { "\($0)" } ?? "",
        ]
        // Each place is replaced once, so that values with braces in them stay as they are.
        var (html, rest) = ("", Substring(String(cString: tandem_viewer_page_html())))
        while let start = rest.firstRange(of: "{{"), let end = rest[start.upperBound...].firstRange(of: "}}") {
            html += rest[..<start.lowerBound]
            html += HTMLText.escaped(values[String(rest[start.upperBound..<end.lowerBound])] ?? "")
            rest = rest[end.upperBound...]
        }
        return html + rest
    }

    /// The JavaScript code of the player page's player (`parseMultivariant`, `MSEPlayer`) as one classic script, for use
    /// in other pages: the modules without their import and export statements.
    package static var player: String {
        [File.requests, .playlist, .track, .player].map(\.text).joined(separator: "\n")
            .split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("import ") }
            .map { $0.hasPrefix("export ") ? $0.dropFirst("export ".count) : $0 }
            .joined(separator: "\n")
    }
}
