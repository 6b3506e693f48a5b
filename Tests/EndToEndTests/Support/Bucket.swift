import Foundation
import Glibc
import TestSupport
import Testing

/// A third-party S3 service in its own process, with a bucket `rooms`, which checks signatures.
struct Bucket {
    enum Service: String, CaseIterable {
        case moto
        /// OpenStack Swift with s3api and tempauth.
        case swift
        /// `rclone serve s3`.
        case rclone

        /// Whether it keeps an object's content type and cache headers.
        var keepsFields: Bool { self != .rclone }
    }

    struct Object {
        var key: String
        var type: String?
        var caching: String?
        /// Whether it equals the room's file of the same name, byte for byte; nil: there is no such file.
        var isSame: Bool?
    }

    private let child: Child
    private let url: String
    private let region: String
    /// The environment variables with the keys for the room.
    let environment: [String: String]

    /// Starts the service. If it cannot be downloaded, then the current test ends as skipped.
    ///
    /// - Parameter directory: For the service's own files.
    static func start(_ service: Service, _ directory: String) throws -> Bucket {
        let fetched = try Command.run("\(EndToEnd.root)/.ci/stores", [service.rawValue], timeout: 150)
        if fetched.code != 0 {
            try TestTool.skip(service.rawValue, "run .ci/stores \(service.rawValue)")
        }
        let child = try Child(
            "\(EndToEnd.root)/.build/stores/\(service.rawValue)/bin/python",
            ["\(EndToEnd.root)/Tests/EndToEndTests/Scripts/bucket.py", service.rawValue, directory], keepsInput: true)
        let words = child.line(from: 0, timeout: 30) { _ in true }?.line.split(separator: " ").map(String.init) ?? []
        guard words.count == 4 else {
            child.stop(SIGKILL)
            throw Missing("\(service.rawValue) does not start; its output: \(child.errors.suffix(2000))")
        }
        return Bucket(
            child: child, url: words[0], region: words[1],
            environment: [
                "BUCKET_ID": words[2], "BUCKET_SECRET": words[3], "WRONG_SECRET": "not-the-secret-at-all",
            ])
    }

    /// An output of a pipeline.
    ///
    /// - Parameter members: More members of it: JSON with a leading comma.
    func output(_ id: String, prefix: String, secret: String = "BUCKET_SECRET", members: String = "") -> String {
        #"""
        { "type": "s3", "outputId": "\#(id)", "endpoint": "\#(self.url)", "region": "\#(self.region)", "bucket": "rooms",
          "prefix": "\#(prefix)", "accessKeyEnv": "BUCKET_ID", "secretKeyEnv": "\#(secret)"\#(members) }
        """#
    }

    /// The objects in the bucket, compared with the files of a directory.
    func look(beside directory: String) throws -> (objects: [Object], playlists: [String: String]) {
        let from = self.child.outputLines.count
        self.child.send(Array("\(directory)\n".utf8))
        guard let line = self.child.line(from: from, timeout: 20, matches: { _ in true })?.line,
            let answer = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
            let rows = answer["objects"] as? [[String: Any]]
        else { throw Missing("the bucket cannot be read; the service's output: \(self.child.errors.suffix(2000))") }
        let objects = rows.map { row in
            Object(
                key: row["key"] as? String ?? "", type: row["type"] as? String, caching: row["cache"] as? String,
                isSame: row["same"] as? Bool)
        }
        return (objects, answer["playlists"] as? [String: String] ?? [:])
    }

    func stop() { self.child.stop(SIGKILL) }
}
