import HTTPListener
import HTTPTypes

/// The operators' page at `/`: static files that ask the API for everything they show.
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

    private let player: [UInt8]
    private let contentSecurityPolicy: String

    /// - Parameters:
    ///   - player: Scripts of the player.
    ///   - keyOrigin: See ``ControlDoors/keyOrigin``.
    init(player: String, keyOrigin: String? = nil) {
        self.player = Array(player.utf8)
        // Nothing from elsewhere but keys, nothing inline; `blob:` is the page's own media source, and pictures that were asked
        // for.
        self.contentSecurityPolicy =
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'\(keyOrigin.map { " \($0)" } ?? ""); "
            + "img-src 'self' blob: data:; media-src 'self' blob:; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors 'none'"
    }

    func reply(_ file: File) -> ListenerReply {
        let (type, bytes) =
            switch file {
            case .html: ("text/html; charset=utf-8", PackageResources.page_html)
            case .style: ("text/css; charset=utf-8", PackageResources.page_css)
            case .script: ("text/javascript; charset=utf-8", PackageResources.page_js)
            case .view: ("text/javascript; charset=utf-8", PackageResources.view_js)
            case .timeline: ("text/javascript; charset=utf-8", PackageResources.timeline_js)
            case .console: ("text/javascript; charset=utf-8", PackageResources.console_js)
            case .player: ("text/javascript; charset=utf-8", self.player)
            }
        var fields: HTTPFields = [.contentType: type, .cacheControl: "no-cache", .xContentTypeOptions: "nosniff"]
        if file == .html {
            fields[.contentSecurityPolicy] = self.contentSecurityPolicy
            if let name = HTTPField.Name("Referrer-Policy") { fields[name] = "no-referrer" }
        }
        return ListenerReply(.ok, fields: fields, body: .bytes(bytes))
    }

    /// The API's description.
    ///
    /// Spec: OpenAPI 3.1.1.
    static var description: ListenerReply {
        ListenerReply(
            .ok, fields: [.contentType: "application/json", .cacheControl: "no-cache"],
            body: .bytes(PackageResources.openapi_json))
    }
}
