import CPages
import HTTPListener
import HTTPTypes

/// The operators' page at `/`: static files. Its scripts are ES modules that request all data from the API.
package struct ControlPage: Sendable {
    package enum File: String, Hashable, CaseIterable {
        case html = "/"
        case guide = "/guide.html"
        case style = "/page.css"
        case studioStyle = "/studio.css"
        case player = "/player.js"
        case script = "/page.js"
        case dom = "/dom.js"
        case api = "/api.js"
        case store = "/store.js"
        case geometry = "/geometry.js"
        case scene = "/scene.js"
        case stage = "/stage.js"
        case editor = "/editor.js"
        case inspector = "/inspector.js"
        case sources = "/sources.js"
        case stills = "/stills.js"
        case pk = "/pk.js"
        case invite = "/invite.js"
        case capture = "/capture.js"
        case outputs = "/outputs.js"
        case trouble = "/trouble.js"
        case events = "/events.js"
        case logs = "/logs.js"
        case header = "/header.js"
        case watch = "/watch.js"
        case timeline = "/timeline.js"
        case keys = "/keys.js"
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
        let text = file == .player ? self.player : file.content
        let type =
            switch file {
            case .html, .guide: "text/html; charset=utf-8"
            case .style, .studioStyle: "text/css; charset=utf-8"
            default: "text/javascript; charset=utf-8"
            }
        var fields: HTTPFields = [.contentType: type, .cacheControl: "no-cache", .xContentTypeOptions: "nosniff"]
        if file == .html || file == .guide {
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

extension ControlPage.File {
    /// The embedded text of the file; empty for the player, whose text is passed to ``ControlPage``.
    fileprivate var content: String {
        switch self {
        case .html: String(cString: tandem_control_page_html())
        case .guide: String(cString: tandem_control_guide_html())
        case .style: String(cString: tandem_control_page_css())
        case .studioStyle: String(cString: tandem_control_studio_css())
        case .script: String(cString: tandem_control_page_js())
        case .dom: String(cString: tandem_control_dom_js())
        case .api: String(cString: tandem_control_api_js())
        case .store: String(cString: tandem_control_store_js())
        case .geometry: String(cString: tandem_control_geometry_js())
        case .scene: String(cString: tandem_control_scene_js())
        case .stage: String(cString: tandem_control_stage_js())
        case .editor: String(cString: tandem_control_editor_js())
        case .inspector: String(cString: tandem_control_inspector_js())
        case .sources: String(cString: tandem_control_sources_js())
        case .stills: String(cString: tandem_control_stills_js())
        case .pk: String(cString: tandem_control_pk_js())
        case .invite: String(cString: tandem_control_invite_js())
        case .capture: String(cString: tandem_control_capture_js())
        case .outputs: String(cString: tandem_control_outputs_js())
        case .trouble: String(cString: tandem_control_trouble_js())
        case .events: String(cString: tandem_control_events_js())
        case .logs: String(cString: tandem_control_logs_js())
        case .header: String(cString: tandem_control_header_js())
        case .watch: String(cString: tandem_control_watch_js())
        case .timeline: String(cString: tandem_control_timeline_js())
        case .keys: String(cString: tandem_control_keys_js())
        case .player: ""
        }
    }
}
