import CPages

/// The page at `/`: one self-contained document, put together from the embedded parts.
package enum ViewerPage {
    /// Nothing from elsewhere is loaded but keys; `blob:` is the media source of the page's own player.
    ///
    /// - Parameter keyURI: Where players get keys; `nil`: from where the page is.
    package static func contentSecurityPolicy(keyURI: String? = nil) -> String {
        let keys = keyURI.flatMap { self.origin(of: $0) }.map { " \($0)" } ?? ""
        return "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'\(keys); "
            + "media-src 'self' blob:; img-src data:; base-uri 'none'; form-action 'none'"
    }

    /// Scheme, host and port of a URL as a policy names them, such as `https://keys.example`; `nil` for what has none, or more.
    package static func origin(of url: String) -> String? {
        guard let scheme = ["https://", "http://"].first(where: { url.hasPrefix($0) }) else { return nil }
        let authority = url.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let isPlain = authority.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x3A, 0x5B, 0x5D: true
            default: false
            }
        }
        return !authority.isEmpty && isPlain ? scheme + authority : nil
    }

    /// - Parameters:
    ///   - title: Of the room; any text.
    ///   - playlist: File name of the multivariant playlist.
    package static func html(title: String, playlist: String = "index.m3u8") -> String {
        // The title is put in last: what it contains is never looked at again.
        String(cString: tandem_viewer_page_html())
            .replacing("/*style*/", with: String(cString: tandem_viewer_page_css()))
            .replacing("/*script*/", with: "\(self.player)\n\(String(cString: tandem_viewer_page_js()))")
            .replacing("{{playlist}}", with: self.escaped(playlist))
            .replacing("{{title}}", with: self.escaped(title))
    }

    /// Scripts of the page's player, for other pages: `parseMultivariant`, `MSEPlayer`.
    package static var player: String {
        "\(String(cString: tandem_viewer_playlist_js()))\n\(String(cString: tandem_viewer_player_js()))"
    }

    package static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
