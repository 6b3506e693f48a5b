/// The page at `/`: one self-contained document, put together from the embedded parts.
package enum ViewerPage {
    /// Nothing from elsewhere is loaded; `blob:` is the media source of the page's own player.
    package static let contentSecurityPolicy =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
        + "media-src 'self' blob:; img-src data:; base-uri 'none'; form-action 'none'"

    /// - Parameter title: Of the room; any text.
    package static func html(title: String) -> String {
        // The title is put in last: what it contains is never looked at again.
        self.text(PackageResources.page_html)
            .replacing("/*style*/", with: self.text(PackageResources.page_css))
            .replacing(
                "/*script*/",
                with: [PackageResources.playlist_js, PackageResources.player_js, PackageResources.page_js].map(
                    self.text
                )
                .joined(separator: "\n")
            )
            .replacing("{{title}}", with: self.escaped(title))
    }

    /// Scripts of the page's player, for other pages: `parseMultivariant`, `MSEPlayer`.
    package static var player: String {
        [PackageResources.playlist_js, PackageResources.player_js].map(self.text).joined(separator: "\n")
    }

    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self)
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
