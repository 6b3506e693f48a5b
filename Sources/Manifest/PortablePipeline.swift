package import MediaTypes
import PipelineSpec

/// A pipeline document for an orchestrator: without secrets, with listeners that others can reach, and with file paths
/// as the orchestrator mounts them.
package struct PortablePipeline: Sendable {
    /// Paths and addresses in the orchestrator's environment.
    package struct Places: Sendable, Hashable {
        /// Directory of the secrets.
        package var secrets: String
        /// Directory of images and other files; `nil`: their paths are unchanged.
        package var files: String?
        /// Control address that is used if the pipeline has neither a fixed control port nor a control socket.
        package var control: String

        /// Control socket that replaces a Unix socket of the pipeline, because the directory of the original may not
        /// exist or not be writable for the room.
        package var socket: String
        /// Disk limit in bytes if the pipeline has none; `nil`: no limit.
        package var diskBytes: Int64?
        /// Environment variable with the address of the machine, for WebRTC publishers; `nil`: there is none.
        package var nodeAddress: String?

        /// Creates the paths and addresses for one orchestrator.
        ///
        /// - Parameter socket: See ``socket``; `nil`: ``control`` if that is a Unix socket, otherwise a socket in
        ///   `/tmp`.
        package init(
            secrets: String, files: String?, control: String, socket: String? = nil, diskBytes: Int64? = nil,
            nodeAddress: String? = nil
        ) {
            self.secrets = secrets
            self.files = files
            self.control = control
            self.socket = socket ?? (control.hasPrefix("unix:") ? control : "unix:/tmp/control.sock")
            self.diskBytes = diskBytes
            self.nodeAddress = nodeAddress
        }
    }

    /// The pipeline document for the orchestrator.
    package private(set) var document: JSONNode
    /// Files and secrets that must be provided with the document.
    package private(set) var files: [PortableFile] = []
    /// Notes for the operator: what must exist or be set on the machine, and where a placeholder replaces a secret.
    package private(set) var notes: [String] = []
    private let places: Places

    package init(_ document: JSONNode, places: Places) {
        self.document = document
        self.places = places
        self.moveListeners()
        if let bytes = places.diskBytes {
            self.edit("limits") { limits in
                if limits[key: "maxDiskBytes"] == nil { limits.set("maxDiskBytes", .integer(Int(clamping: bytes))) }
            }
        }
        self.document = self.walk(self.document, "", parent: "")
    }

    // MARK: Listeners

    private mutating func moveListeners() {
        let places = self.places
        var taken = self.writtenPorts
        // The UDP ports that listeners of this room use already.
        var datagrams: Set<UInt16> = []
        self.edit("control") { control in
            switch control[key: "listen"]?.string.flatMap({ try? ListenAddress(parsing: $0) }) {
            case .tcp(_, let port)? where port != 0: break
            case .tcp?, nil: control.set("listen", .string(Self.free(places.control, &taken)))
            case .unix?: control.set("listen", .string(places.socket))
            }
        }
        var notes: [String] = []
        self.edit("ingest") { ingest in
            for (key, port) in [("rtmp", 1935), ("rtmps", 1936), ("srt", 9000), ("webrtc", 8889)] {
                guard var door = ingest[key: key] ?? (key == "rtmp" ? .object([]) : nil) else { continue }
                if case .null? = door[key: "listen"]?.content { continue }
                let written = door[key: "listen"]?.string
                let address =
                    key == "srt"
                    ? Self.open(written, port: port, &datagrams) : Self.open(written, port: port, &taken)
                door.set("listen", .string(address))
                if key == "webrtc" {
                    // Publishers also connect by TCP to the same number.
                    var both = datagrams.union(taken)
                    door.set("udp", .string(Self.open(door[key: "udp"]?.string, port: 8189, &both)))
                    (datagrams, taken) = (both, both)
                    if let own = door[key: "publicAddressesEnv"]?.string, own != places.nodeAddress {
                        notes.append("ingest.webrtc.publicAddressesEnv: set the variable \(own) of the room")
                    }
                    if Self.needsAddress(door) {
                        if let variable = places.nodeAddress {
                            door.set("publicAddressesEnv", .string(variable))
                        } else {
                            notes.append(
                                "ingest.webrtc.publicAddresses: list the addresses of the machine that publishers can reach"
                            )
                        }
                    }
                }
                ingest.set(key, door)
            }
        }
        self.notes += notes
        guard case .array(var outputs)? = self.document[key: "outputs"]?.content else { return }
        for index in outputs.indices where outputs[index][key: "type"]?.string == "webrtc" {
            let written = outputs[index][key: "udp"]?.string
            // Viewers also connect by TCP to the same number.
            var both = datagrams.union(taken)
            outputs[index].set("udp", .string(Self.open(written, port: 8190, &both)))
            (datagrams, taken) = (both, both)
        }
        // Outputs with MPEG-TS segments have this type too, but are served by the listener of the HLS output that they
        // are made from.
        for index in outputs.indices
        where (outputs[index][key: "type"]?.string ?? "hls") == "hls"
            && outputs[index][key: "segmentFormat"]?.string != "ts"
        {
            var http = outputs[index][key: "http"] ?? .object([])
            if case .null? = http[key: "listen"]?.content { continue }
            http.set("listen", .string(Self.open(http[key: "listen"]?.string, port: 8080, &taken)))
            outputs[index].set("http", http)
        }
        self.document.set("outputs", .array(outputs))
    }

    /// Whether the addresses at which WebRTC publishers reach the machine are not written.
    private static func needsAddress(_ door: JSONNode) -> Bool {
        if case .array(let written)? = door[key: "publicAddresses"]?.content, !written.isEmpty { return false }
        guard door[key: "publicAddressesEnv"] == nil else { return false }
        let udp = door[key: "udp"]?.string.flatMap { try? ListenAddress(parsing: $0) }
        guard case .tcp(let host, _)? = udp else { return true }
        return IPAddress(host.filter { $0 != "[" && $0 != "]" })?.isUnspecified ?? true
    }

    private mutating func edit(_ key: String, _ body: (inout JSONNode) -> Void) {
        var node = self.document[key: key] ?? .object([])
        guard case .object = node.content else { return }
        body(&node)
        self.document.set(key, node)
    }

    /// Returns a listener's address with a fixed port: the written one, or the next free one from `port` on. A loopback
    /// address becomes the wildcard address, so that other machines can connect.
    private static func open(_ text: String?, port: Int, _ taken: inout Set<UInt16>) -> String {
        guard let text, case .tcp(let host, let own)? = try? ListenAddress(parsing: text) else {
            return self.free("0.0.0.0:\(port)", &taken)
        }
        let outside = ListenAddress.isLoopback(host: host) ? "0.0.0.0" : host
        guard own == 0 else { return ListenAddress.tcp(host: outside, port: own).description }
        return self.free(ListenAddress.tcp(host: outside, port: UInt16(clamping: port)).description, &taken)
    }

    /// Returns the address with its port, or with the next one that is not taken, and marks the port as taken.
    private static func free(_ text: String, _ taken: inout Set<UInt16>) -> String {
        guard case .tcp(let host, var port)? = try? ListenAddress(parsing: text) else { return text }
        while taken.contains(port), port < .max { port += 1 }
        taken.insert(port)
        return ListenAddress.tcp(host: host, port: port).description
    }

    /// TCP ports that the pipeline document contains.
    private var writtenPorts: Set<UInt16> {
        var listeners = [self.document[key: "control"]]
        let ingest = self.document[key: "ingest"]
        listeners += ["rtmp", "rtmps", "webrtc"].map { ingest?[key: $0] }
        if case .array(let outputs)? = self.document[key: "outputs"]?.content {
            listeners += outputs.map { $0[key: "http"] }
        }
        let ports = listeners.compactMap { listener -> UInt16? in
            guard let text = listener?[key: "listen"]?.string,
                case .tcp(_, let port)? = try? ListenAddress(parsing: text)
            else { return nil }
            return port
        }
        return Set(ports).subtracting([0])
    }

    // MARK: Secrets and files

    /// Replaces secrets by references to the orchestrator's store, possible secrets in other URLs by placeholders, and
    /// the paths of files that are provided with the document by their paths in the orchestrator's environment.
    private mutating func walk(_ node: JSONNode, _ path: String, parent: String) -> JSONNode {
        switch node.content {
        case .array(let elements):
            return .array(elements.enumerated().map { self.walk($1, "\(path)[\($0)]", parent: parent) })
        case .object(let members):
            var moved: [JSONMember] = []
            for member in members {
                let place = path.isEmpty ? member.key : "\(path).\(member.key)"
                moved.append(self.moved(member, place, parent: parent, siblings: members))
            }
            return .object(moved)
        default: return JSONNode(node.content)
        }
    }

    private mutating func moved(
        _ member: JSONMember, _ place: String, parent: String, siblings: [JSONMember]
    ) -> JSONMember {
        let (key, text) = (member.key, member.value.string)
        // Free-form: its keys have no meaning here.
        if place == "ext" { return member }
        switch (key, text) {
        case ("streamKey", _?), ("streamKeys", _):
            // An empty list means no key.
            if case .array(let keys) = member.value.content, keys.isEmpty { break }
            return JSONMember("streamKeyFile", .string(self.secret(place, origin: nil)))
        case ("key", _?) where parent == "outputs":
            return JSONMember("keyFile", .string(self.secret(place, origin: nil)))
        // URLs of webhooks can contain a secret in their path, as those of chat services do.
        case ("url", _?)
        where ["sources", "relays", "events"].contains(parent) || parent == "outputs" && Self.isRTMP(siblings):
            let variable = "TANDEM_" + Self.slug(place).uppercased().map { $0 == "-" ? "_" : $0 }
            self.files.append(
                PortableFile(.secretVariable(variable), name: Self.slug(place), place: place, origin: nil))
            return JSONMember("urlEnv", .string(variable))
        case ("url", let url?): return JSONMember(key, .string(self.withoutQuery(url, place)))
        // Not a secret: the orchestrator sets it.
        case ("publicAddressesEnv", _?): return member
        case (_, let variable?) where key.hasSuffix("Env"):
            if !self.files.contains(where: { $0.kind == .secretVariable(variable) }) {
                self.files.append(
                    PortableFile(.secretVariable(variable), name: Self.slug(variable), place: place, origin: nil))
            }
        case (_, let origin?) where key.hasSuffix("File") || parent == "tls" && ["certificate", "key"].contains(key):
            return JSONMember(key, .string(self.secret(place, origin: origin)))
        case ("fonts", nil) where parent == "canvas":
            guard case .array(let fonts) = member.value.content else { break }
            return JSONMember(
                key,
                .array(
                    fonts.enumerated().map { index, font in
                        font.string.map { .string(self.file("\(place)[\(index)]", $0, parent: key)) } ?? font
                    }))
        case (_, let origin?)
        where ["placeholderImage", "authorities", "noiseModel"].contains(key) || key == "path" && parent != "outputs":
            return JSONMember(key, .string(self.file(place, origin, parent: parent)))
        default: break
        }
        return JSONMember(key, self.walk(member.value, place, parent: key))
    }

    /// Returns whether the output is an RTMP output, whose URL may end with the stream key.
    private static func isRTMP(_ members: [JSONMember]) -> Bool {
        members.contains { $0.key == "type" && $0.value.string == "rtmp" }
    }

    private mutating func secret(_ place: String, origin: String?) -> String {
        let name = Self.slug(place)
        self.files.append(PortableFile(.secretFile, name: name, place: place, origin: origin))
        return "\(self.places.secrets)/\(name)"
    }

    private mutating func file(_ place: String, _ written: String, parent: String) -> String {
        // Images may be file URLs.
        let isURL = parent != "sources" && written.hasPrefix("file:///")
        let origin = isURL ? String(written.dropFirst(7)) : written
        guard let directory = self.places.files, parent != "sources" else {
            self.notes.append("\(place): this file must exist on the machine: \(origin)")
            return origin
        }
        let last = origin.split(separator: "/").last.map(String.init) ?? "file"
        let taken = self.files.filter { $0.kind == .file }
        if let same = taken.first(where: { $0.origin == origin }) { return "\(directory)/\(same.name)" }
        let plain = Self.fileName(last)
        let name = taken.contains { $0.name == plain } ? "\(taken.count)-\(plain)" : plain
        self.files.append(PortableFile(.file, name: name, place: place, origin: origin))
        return "\(directory)/\(name)"
    }

    /// Replaces the query and the user information of a URL by placeholders: they may be secrets, which must not be
    /// stored in plain text.
    private mutating func withoutQuery(_ url: String, _ place: String) -> String {
        var plain = url
        let placeholder = ManifestRequest.placeholder
        if let query = plain.firstIndex(of: "?") { plain = "\(plain[..<query])?\(placeholder)" }
        if let scheme = plain.end(of: "://") {
            let host = plain[scheme...].prefix { $0 != "/" && $0 != "?" }
            if let at = host.lastIndex(of: "@") { plain = plain[..<scheme] + placeholder + plain[at...] }
        }
        if plain != url { self.notes.append("\(place): \(placeholder) replaces a possible secret") }
        return plain
    }

    /// Converts `sources[0].streamKey` to `sources-0-streamkey`.
    static func slug(_ place: String) -> String {
        var out = ""
        for character in place.lowercased() {
            if character.isASCII, character.isLetter || character.isNumber {
                out.append(character)
            } else if !out.hasSuffix("-"), !out.isEmpty {
                out.append("-")
            }
        }
        while out.hasSuffix("-") { out.removeLast() }
        return out
    }

    private static func fileName(_ name: String) -> String {
        let plain = String(
            name.map { $0.isASCII && ($0.isLetter || $0.isNumber) || ".-_".contains($0) ? $0 : "-" }.suffix(100))
        // The names `.` and `..` are not usable as file names.
        return plain.allSatisfy { $0 == "." } ? "file" : plain
    }
}

extension String {
    /// Returns the index after the first occurrence of `text`; nil if there is none.
    fileprivate func end(of text: String) -> String.Index? {
        var index = self.startIndex
        while index < self.endIndex {
            if self[index...].hasPrefix(text) { return self.index(index, offsetBy: text.count) }
            index = self.index(after: index)
        }
        return nil
    }
}

extension JSONNode {
    /// Sets a member, in its position or at the end; does nothing if the node is not an object.
    fileprivate mutating func set(_ key: String, _ value: JSONNode) {
        guard case .object(var members) = self.content else { return }
        if let index = members.firstIndex(where: { $0.key == key }) {
            members[index].value = value
        } else {
            members.append(JSONMember(key, value))
        }
        self.content = .object(members)
    }
}
