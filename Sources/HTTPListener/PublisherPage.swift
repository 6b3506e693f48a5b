import CPages
import HTTPTypes

/// The publishers' page: static files with scripts that send camera, screen or a test pattern to a WHIP endpoint of the
/// same listener.
///
/// All URLs in the page are relative, so that it works behind a proxy that adds a path. The page sends the stream key
/// only in `Authorization` (RFC 9725). It takes the key from the fragment of its URL, `#key=KEY`, which browsers do not
/// send.
package struct PublisherPage: Sendable {
    /// Path of a file, relative to the page's folder with a leading slash.
    package enum File: String, Hashable, CaseIterable, Sendable {
        case html = "/"
        case style = "/page.css"
        case words = "/words.js"
        case media = "/media.js"
        case session = "/session.js"
        case script = "/page.js"
        /// Script of a web worker.
        case ticker = "/ticker.js"
    }

    /// The `Content-Security-Policy` of the page: no inline script or style, and nothing from other origins. Other pages
    /// cannot embed the page, because it has access to the camera.
    package static let contentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'; "
        + "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    private let html: String

    /// - Parameters:
    ///   - title: Title of the room; any text.
    ///   - endpoint: URL of the WHIP endpoint, relative to the page.
    package init(title: String, endpoint: String = "whip") {
        // The title is inserted last, so that its content is never replaced.
        self.html = String(cString: tandem_publisher_page_html())
            .replacing("{{endpoint}}", with: HTMLText.escaped(endpoint))
            .replacing("{{title}}", with: HTMLText.escaped(title))
    }

    package func reply(_ file: File) -> ListenerReply {
        let (type, text) =
            switch file {
            case .html: ("text/html; charset=utf-8", self.html)
            case .style: ("text/css; charset=utf-8", String(cString: tandem_publisher_page_css()))
            case .words: ("text/javascript; charset=utf-8", String(cString: tandem_publisher_words_js()))
            case .media: ("text/javascript; charset=utf-8", String(cString: tandem_publisher_media_js()))
            case .session: ("text/javascript; charset=utf-8", String(cString: tandem_publisher_session_js()))
            case .script: ("text/javascript; charset=utf-8", String(cString: tandem_publisher_page_js()))
            case .ticker: ("text/javascript; charset=utf-8", String(cString: tandem_publisher_ticker_js()))
            }
        var fields: HTTPFields = [.contentType: type, .cacheControl: "no-cache", .xContentTypeOptions: "nosniff"]
        // A web worker has the policy of its own reply.
        if file == .html || file == .ticker { fields[.contentSecurityPolicy] = Self.contentSecurityPolicy }
        if file == .html, let name = HTTPField.Name("Referrer-Policy") { fields[name] = "no-referrer" }
        return ListenerReply(.ok, fields: fields, body: .text(text))
    }
}
