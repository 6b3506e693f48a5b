import MediaTypes
import PipelineSpec
import Testing

@Suite("Files and environment variables named in a document, and which of them a request may name")
struct NamedResourceTests {
    @Test(
        "the list of files and variables named in a document covers every schema member whose name ends in File or Env")
    func all() throws {
        var members: Set<String> = []
        for text in Documents.full {
            let root = try #require(JSONParser.parse(Array(text.utf8)).root)
            for found in NamedResource.all(in: root) {
                members.insert(found.path.split(separator: ".").last.map(String.init) ?? "")
            }
        }
        for name in Self.members(of: try #require(JSONParser.parse(Array(PipelineSchema.json().utf8)).root)) {
            #expect(members.contains(name), "\(name) names a file or a variable, and requests could name any with it")
        }
        #expect(members.isSuperset(of: ["path", "placeholderImage", "authorities", "certificate", "key"]))
    }

    /// The names of the schema's members that end in File or Env.
    private static func members(of node: JSONNode) -> Set<String> {
        switch node.content {
        case .array(let elements): return elements.reduce(into: []) { $0.formUnion(self.members(of: $1)) }
        case .object(let members):
            var found: Set<String> = []
            if case .object(let properties)? = node[key: "properties"]?.content {
                found.formUnion(properties.map(\.key).filter { $0.hasSuffix("File") || $0.hasSuffix("Env") })
            }
            return members.reduce(into: found) { $0.formUnion(self.members(of: $1.value)) }
        default: return []
        }
    }

    private static let file = #"""
        { "control": { "tokenFile": "/run/token", "events": [ { "urlEnv": "HOOK_URL", "secretFile": "/run/hook" } ] },
          "watermarks": [ { "path": "logo.png" } ],
          "outputs": [ { "type": "rtmp", "keyFile": "/run/cdn" }, { "type": "hls", "path": "out" } ],
          "ext": { "keyFile": "/etc/shadow" } }
        """#

    private static func refused(_ request: String) throws -> [String] {
        let grants = ResourceGrants([try #require(JSONParser.parse(Array(Self.file.utf8)).root)]) {
            $0 == NamedResource(.file(member: "keyFile"), "/run/given/key")
        }
        return grants.mistakes(in: try #require(JSONParser.parse(Array(request.utf8)).root)).map(\.path)
    }

    @Test(
        "a request may name only what the pipeline file names for the same use, and files that the operator permits",
        arguments: [
            (#"{ "outputs": [ { "keyFile": "/run/cdn" }, { "keyFile": "/run/given/key" } ] }"#, []),
            (#"{ "outputs": [ { "keyFile": "/etc/shadow" } ] }"#, ["outputs[0].keyFile"]),
            (#"{ "outputs": [ { "keyFile": "/run/../run/cdn" } ] }"#, ["outputs[0].keyFile"]),
            // A secret of another use is not sent to a server as a key.
            (#"{ "outputs": [ { "keyFile": "/run/token" } ] }"#, ["outputs[0].keyFile"]),
            (#"{ "outputs": [ { "keyFile": "/run/hook" }, { "urlEnv": "HOOK_URL" } ] }"#, ["outputs[0].keyFile"]),
            (#"{ "outputs": [ { "keyEnv": "AWS_SECRET_ACCESS_KEY" } ] }"#, ["outputs[0].keyEnv"]),
            (#"{ "outputs": [ { "keyEnv": "HOOK_URL" } ] }"#, ["outputs[0].keyEnv"]),
            (#"{ "outputs": [ { "tls": { "authorities": "/etc/shadow" } } ] }"#, ["outputs[0].tls.authorities"]),
            (
                #"{ "sources": [ { "streamKeyFile": "/run/cdn" }, { "relays": [ { "urlEnv": "HOME" } ] } ] }"#,
                ["sources[0].streamKeyFile", "sources[1].relays[0].urlEnv"]
            ),
            (#"{ "watermarks": [ { "path": "logo.png" }, { "path": "/etc/passwd" } ] }"#, ["watermarks[1].path"]),
            (
                #"{ "scenes": [ { "images": [ { "path": "x.png" } ], "bgImages": [ { "path": "logo.png" } ] } ] }"#,
                ["scenes[0].images[0].path"]
            ),
            (
                #"{ "sources": [ { "onLost": { "placeholderImage": "/etc/passwd" } } ] }"#,
                ["sources[0].onLost.placeholderImage"]
            ),
            (#"{ "canvas": { "fonts": [ "/etc/shadow" ] } }"#, ["canvas.fonts[0]"]),
            (#"{ "sources": [ { "type": "file", "path": "/etc/shadow" } ] }"#, ["sources[0].path"]),
            // An image that the file names is not a source.
            (#"{ "sources": [ { "type": "file", "path": "logo.png" } ] }"#, ["sources[0].path"]),
            (
                #"{ "sources": [ { "record": { "directory": "/etc" } }, { "record": true } ] }"#,
                ["sources[0].record.directory"]
            ),
            // A scene alone.
            (#"{ "images": [ { "path": "x.png" } ], "layout": "auto" }"#, ["images[0].path"]),
            // An output's path is not read, and cannot change; free-form values are not checked.
            (#"{ "outputs": [ { "path": "elsewhere" } ], "ext": { "keyFile": "/etc/shadow" } }"#, []),
        ] as [(String, [String])])
    func requests(request: String, paths: [String]) throws {
        #expect(try Self.refused(request) == paths)
    }
}
