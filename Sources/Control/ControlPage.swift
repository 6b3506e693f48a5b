import CPages
import HTTPListener
import HTTPTypes

/// The operators' page at `/`: static files with scripts that request all data from the API.
package struct ControlPage: Sendable {
    package enum File: String, Hashable, CaseIterable {
        case html = "/"
        case style = "/page.css"
        case script = "/page.js"
        case view = "/view.js"
        case timeline = "/timeline.js"
        case console = "/console.js"
        case player = "/player.js"
    }

    private let player: String
    private let contentSecurityPolicy: String

    /// - Parameters:
    ///   - player: Source text of the player scripts.
    ///   - keyOrigin: Web origin of the decryption keys; see ``ControlListenerOptions/keyOrigin``.
    init(player: String, keyOrigin: String? = nil) {
        self.player = player
        // Only decryption keys may come from other origins, and nothing is inline. `blob:` is needed for the page's
        // media source and for snapshots.
        self.contentSecurityPolicy =
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'\(keyOrigin.map { " \($0)" } ?? ""); "
            + "img-src 'self' blob: data:; media-src 'self' blob:; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors 'none'"
    }

    func reply(_ file: File) -> ListenerReply {
        let (type, text) =
            switch file {
            case .html: ("text/html; charset=utf-8", String(cString: tandem_control_page_html()))
            case .style: ("text/css; charset=utf-8", String(cString: tandem_control_page_css()))
            case .script: ("text/javascript; charset=utf-8", String(cString: tandem_control_page_js()))
            case .view: ("text/javascript; charset=utf-8", String(cString: tandem_control_view_js()))
            case .timeline: ("text/javascript; charset=utf-8", String(cString: tandem_control_timeline_js()))
            case .console: ("text/javascript; charset=utf-8", String(cString: tandem_control_console_js()))
            case .player: ("text/javascript; charset=utf-8", self.player)
            }
        var fields: HTTPFields = [.contentType: type, .cacheControl: "no-cache", .xContentTypeOptions: "nosniff"]
        if file == .html {
            fields[.contentSecurityPolicy] = self.contentSecurityPolicy
            if let name = HTTPField.Name("Referrer-Policy") { fields[name] = "no-referrer" }
        }
        return ListenerReply(.ok, fields: fields, body: .bytes(Array(text.utf8)))
    }

    /// The reply to `GET /openapi.json` with the API description.
    ///
    /// Spec: OpenAPI 3.1.1.
    static var description: ListenerReply {
        ListenerReply(
            .ok, fields: [.contentType: "application/json", .cacheControl: "no-cache"],
            body: .bytes(Array(String(cString: tandem_control_openapi_json()).utf8)))
    }
}
