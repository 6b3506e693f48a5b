import Foundation
import Testing

/// The commanded state of a room in its replies and files, by member, as text.
struct CommandedFacts {
    private(set) var values: [String: String] = [:]
    private(set) var revision = 0
    /// Number of the next frame that the program composes.
    private(set) var tick = 0

    /// - Parameter directory: The directory with the room's `commands.json`.
    init(_ room: RunningRoom, _ directory: String) throws {
        try self.read(room.state())
        for path in ["/v1/scenes", "/v1/document"] {
            let reply = try HTTPClient.request("GET", room.control, path)
            guard reply.status == 200 else { throw Missing("GET \(path): \(reply.body)") }
            if path == "/v1/document" {
                self.values["document"] = reply.body
            } else {
                self.read(scenes: reply.json())
            }
        }
        try self.readFile("\(directory)/commands.json")
    }

    subscript(name: String) -> String? { self.values[name] }

    private mutating func read(_ state: [String: Any]) throws {
        let program = state["program"] as? [String: Any] ?? [:]
        self.revision = try #require(state["revision"] as? Int)
        self.tick = try #require(program["tick"] as? Int)
        self.values["title"] = Self.text(state["title"])
        self.values["scene"] = Self.text(program["scene"])
        let pk = state["pk"] as? [String: Any] ?? [:]
        for key in ["phase", "endsAt", "scene", "endScene"] { self.values["pk.\(key)"] = Self.text(pk[key]) }
        for source in state["sources"] as? [[String: Any]] ?? [] {
            let uid = source["uid"] as? String ?? ""
            for key in ["videoPush", "audioPush", "volume"] { self.values["\(uid).\(key)"] = Self.text(source[key]) }
            self.values["\(uid).isRefused"] = Self.text(source["refused"] is [String: Any])
            let relays = (source["relays"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
            self.values["\(uid).relays"] = relays.sorted().joined(separator: " ")
        }
    }

    private mutating func read(scenes: [String: Any]) {
        for scene in scenes["scenes"] as? [[String: Any]] ?? [] {
            self.values["scene \(scene["sceneId"] as? String ?? "")"] =
                "\(Self.text(scene["revision"])) \(Self.text(scene["uids"]))"
        }
        let upcoming = (scenes["upcoming"] as? [[String: Any]] ?? []).compactMap { $0["sceneId"] as? String }
        self.values["upcoming"] = upcoming.joined(separator: " ")
    }

    /// Reads members that no GET request returns.
    private mutating func readFile(_ path: String) throws {
        // The file does not exist before the first command.
        guard FileManager.default.fileExists(atPath: path) else { return }
        let file = try JSONSerialization.jsonObject(with: Files.bytes(path)) as? [String: Any] ?? [:]
        for member in ["texts", "countdowns"] { self.values["file.\(member)"] = Self.text(file[member]) }
        let scores = file["scores"] as? [String: [String: Any]] ?? [:]
        self.values["file.scores"] = scores.sorted { $0.key < $1.key }.map {
            "\($0.key) \(Self.text($0.value["left"])):\(Self.text($0.value["right"]))"
        }.joined(separator: " ")
        let relays = file["relays"] as? [[String: Any]] ?? []
        self.values["file.relays"] = relays.map {
            "\(Self.text($0["uid"]))/\(Self.text($0["id"])) \(Self.text($0["url"]))"
        }.joined(separator: " ")
        let replies = file["replies"] as? [[String: Any]] ?? []
        self.values["file.replies"] = Self.text(replies.map { $0["fingerprint"] as? String ?? "" })
        for source in file["sources"] as? [[String: Any]] ?? [] {
            let uid = source["uid"] as? String ?? ""
            for key in ["trackVolumes", "offsetMs", "rotation"] {
                if let value = source[key] { self.values["file.\(uid).\(key)"] = Self.text(value) }
            }
        }
    }

    /// JSON with sorted members; a string is used unquoted.
    private static func text(_ value: Any?) -> String {
        guard let value, !(value is NSNull) else { return "null" }
        if let text = value as? String { return text }
        let options: JSONSerialization.WritingOptions = [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes]
        return (try? JSONSerialization.data(withJSONObject: value, options: options)).map {
            String(decoding: $0, as: UTF8.self)
        } ?? "?"
    }

    /// Members that differ between two moments, with both values.
    ///
    /// - Parameter prefixes: Members whose names begin with one of these may differ.
    func differences(from before: CommandedFacts, except prefixes: [String] = []) -> [String] {
        Set(self.values.keys).union(before.values.keys).sorted().filter { name in
            self.values[name] != before.values[name] && !prefixes.contains { name.hasPrefix($0) }
        }.map { "\($0): \(before.values[$0] ?? "none") became \(self.values[$0] ?? "none")" }
    }
}
