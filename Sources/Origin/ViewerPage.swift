import MediaTypes
import CPages
import HTTPListener

/// The player page at `/` of the playback listener: one self-contained HTML document, assembled from embedded parts.
package enum ViewerPage {
    /// Returns the content security policy of the player page. Only keys may be loaded from another server; `blob:` is
    /// the media source of the page's own player.
    ///
    /// - Parameter keyURI: URI of an external key server; `nil`: keys come from the page's own server.
    package static func contentSecurityPolicy(keyURI: String? = nil) -> String {
        let keys = keyURI.flatMap { self.origin(of: $0) }.map { " \($0)" } ?? ""
        return "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'\(keys); "
            + "media-src 'self' blob:; img-src data:; base-uri 'none'; form-action 'none'"
    }

    /// Returns scheme, host and port of a URL as a content security policy lists them, such as `https://keys.example`;
    /// `nil` if the URL is not HTTP or HTTPS, has no host, or has unusual characters in it.
    package static func origin(of url: String) -> String? {
        guard let scheme = ["https://", "http://"].first(where: { url.hasPrefix($0) }) else { return nil }
        let authority = url.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return !authority.isEmpty && authority.isPlain(marks: "-.:[]") ? scheme + authority : nil
    }

    /// Returns the HTML of the player page.
    ///
    /// - Parameters:
    ///   - title: Title of the room; any text.
    ///   - playlist: File name of the multivariant playlist.
    ///   - hasWebRTC: Whether the page offers playback over WebRTC.
    package static func html(title: String, playlist: String = "index.m3u8", hasWebRTC: Bool = false) -> String {
        // The title is inserted last, so that its content is never replaced.
        String(cString: tandem_viewer_page_html())
            .replacing("/*style*/", with: String(cString: tandem_viewer_page_css()))
            .replacing(
                "/*script*/",
                with: "\(self.player)\n\(String(cString: tandem_viewer_webrtc_js()))\n"
                    + String(cString: tandem_viewer_page_js())
            )
            .replacing("{{whep}}", with: hasWebRTC ? "whep" : "")
            .replacing("{{playlist}}", with: HTMLText.escaped(playlist))
            .replacing("{{title}}", with: HTMLText.escaped(title))
    }

    /// The JavaScript code of the player page's player (`parseMultivariant`, `MSEPlayer`), for use in other pages.
    package static var player: String {
        "\(String(cString: tandem_viewer_playlist_js()))\n\(String(cString: tandem_viewer_player_js()))"
    }
}
