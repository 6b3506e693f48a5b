import ArgumentParser
import MediaTypes
import PipelineSpec
import Retention
import Secrets
import Threading
import Upload

struct GCCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gc",
        abstract: "Remove directories and bucket objects of ended rooms after a time.",
        discussion: """
            Without --delete nothing is removed: each directory of a room is listed with what would happen and why.

                tandem gc /srv/rooms --older-than 7d
                tandem gc /srv/rooms --older-than 7d --recordings-older-than 90d --delete

            Below the directory, at most 12 levels deep, every directory with a state.json, an .origin (MPEG-TS) or a
            recording is checked. Live output is removed if its room has ended and none of its files has changed for
            --older-than. It is kept if the room still runs, or if a worker that is started again could finish some
            work: an upload, or a recording whose files are not final. So give a directory that contains both the live
            output and the recordings of its rooms. Recordings and clips are kept unless --recordings-older-than is
            given.

            Only files are removed whose names belong to the tracks of that room, to its recording.json, or to the
            worker's own files; other files are kept and counted. Links are never followed. A directory that cannot be
            read, is too deep or is on another file system is listed with "skip". In this case no live output is
            removed, because the skipped directory may contain its recording, and the exit code is 74. The exception is
            a live output of which an earlier run, which skipped nothing, has left only state.json.

            A room's objects in a bucket are removed if all its playlists have ended and no object is newer than
            --older-than. Objects beside a recording.json, and playlists with EXT-X-PLAYLIST-TYPE, count as a recording.
            The keys must be allowed to list, read and delete; they are read from environment variables or files:

                tandem gc --endpoint https://s3.example --bucket rooms --prefix live/ \\
                  --older-than 7d

            The command can be stopped at any time; the next run continues. deploy/kubernetes/gc runs it once a day.

            Exit codes: 0 done, or nothing to do · 64 flags · 65/66 the directory or a key cannot be read · 69 the bucket
            does not answer or refuses · 74 a directory could not be checked or removed, or standard output cannot be
            written.
            """)

    @Argument(help: "Directory below which the directories of rooms are checked.")
    var directory: String?

    @Option(help: ArgumentHelp("Age at which live output is removed: 30m, 12h, 7d (60s…3650d).", valueName: "duration"))
    var olderThan = "7d"

    @Option(help: ArgumentHelp("Age at which recordings and clips are removed (default: none).", valueName: "duration"))
    var recordingsOlderThan: String?

    @Flag(help: "Remove files and objects instead of only listing them.")
    var delete = false

    @Flag(help: "Write one JSON object per line.")
    var json = false

    @Option(help: ArgumentHelp("Server of a bucket: https://host or http://host:port.", valueName: "url"))
    var endpoint: String?

    @Option(help: "Name of the bucket.")
    var bucket: String?

    @Option(help: "Check only rooms whose objects' names begin with this, for example live/.")
    var prefix = ""

    @Option(help: "Region of the bucket, for which requests are signed (default: \(Self.usualRegion)).")
    var region: String?

    @Flag(help: "Address the bucket by the host name (bucket.host) instead of the path (host/bucket).")
    var virtualHost = false

    @Option(
        help: ArgumentHelp(
            "Environment variable with the access key (default: \(Self.accessVariable)).", valueName: "name"))
    var accessKeyEnv: String?

    @Option(
        help: ArgumentHelp(
            "Environment variable with the secret key (default: \(Self.secretVariable)).", valueName: "name"))
    var secretKeyEnv: String?

    @Option(help: ArgumentHelp("Environment variable with the session token of temporary keys.", valueName: "name"))
    var sessionTokenEnv: String?

    @Option(help: ArgumentHelp("File with the access key, instead of a variable.", valueName: "file"))
    var accessKeyFile: String?

    @Option(help: ArgumentHelp("File with the secret key, instead of a variable.", valueName: "file"))
    var secretKeyFile: String?

    @Option(help: ArgumentHelp("PEM file with the CA certificates for the server.", valueName: "file"))
    var authorities: String?

    private static let usualRegion = "us-east-1"
    private static let accessVariable = "AWS_ACCESS_KEY_ID"
    private static let secretVariable = "AWS_SECRET_ACCESS_KEY"

    func validate() throws {
        guard self.directory != nil || self.bucket != nil else {
            throw ValidationError("give a directory of rooms, or --endpoint and --bucket")
        }
        guard (self.endpoint == nil) == (self.bucket == nil) else {
            throw ValidationError("give --endpoint and --bucket together")
        }
        if let endpoint = self.endpoint {
            guard ["http://", "https://"].contains(where: { endpoint.hasPrefix($0) && endpoint != $0 }) else {
                throw ValidationError("--endpoint \(endpoint): write it as https://host or http://host:port")
            }
        }
        try self.checkBucketOptions()
        for (name, text) in [
            ("--older-than", self.olderThan), ("--recordings-older-than", self.recordingsOlderThan ?? "1d"),
        ] where RetentionRule.seconds(text) == nil {
            throw ValidationError("\(name) \(text): write a duration from 60s to 3650d, such as 30m, 12h or 7d")
        }
    }

    /// Refuses options that would have no effect.
    private func checkBucketOptions() throws {
        let given = [
            ("--prefix", !self.prefix.isEmpty), ("--region", self.region != nil), ("--virtual-host", self.virtualHost),
            ("--access-key-env", self.accessKeyEnv != nil), ("--secret-key-env", self.secretKeyEnv != nil),
            ("--session-token-env", self.sessionTokenEnv != nil), ("--access-key-file", self.accessKeyFile != nil),
            ("--secret-key-file", self.secretKeyFile != nil), ("--authorities", self.authorities != nil),
        ]
        if self.bucket == nil, let option = given.first(where: { $0.1 })?.0 {
            throw ValidationError("\(option) is for a bucket: give --endpoint and --bucket")
        }
        guard self.accessKeyEnv == nil || self.accessKeyFile == nil else {
            throw ValidationError("give --access-key-env or --access-key-file, not both")
        }
        guard self.secretKeyEnv == nil || self.secretKeyFile == nil else {
            throw ValidationError("give --secret-key-env or --secret-key-file, not both")
        }
        if let endpoint = self.endpoint, self.authorities != nil, !endpoint.hasPrefix("https://") {
            throw ValidationError("--authorities is for https: --endpoint is \(endpoint)")
        }
    }

    func run() async throws {
        let now = Clocks.system.wall.now() / TimeMath.nanoseconds
        let rule = RetentionRule(
            after: RetentionRule.seconds(self.olderThan) ?? RetentionRule.range.upperBound,
            recordingsAfter: self.recordingsOlderThan.flatMap { RetentionRule.seconds($0) }, now: now)
        var isComplete = true
        if let directory = self.directory {
            var rooms = DirectoryRetention(root: directory, rule: rule) { Clocks.system.machine.now() }
            let findings = try self.found { () throws(MediaError) in try rooms.find() }
            for finding in findings {
                let removal = self.delete && finding.isRemovable ? rooms.remove(finding) : nil
                isComplete = try self.report(finding, removal) && isComplete
            }
        }
        if let endpoint = self.endpoint, let bucket = self.bucket {
            try ProcessStart.checkClient()
            isComplete = try await self.clean(bucket, at: endpoint, rule) && isComplete
        }
        if !self.delete, !self.json {
            try StandardOutput.write("nothing was removed: --delete removes what is listed with \"remove\"\n")
        }
        if !isComplete { throw ExitStatus.outputLost.code }
    }

    private func clean(_ name: String, at endpoint: String, _ rule: RetentionRule) async throws -> Bool {
        let (access, secret, token) = try self.found { () throws(MediaError) in try self.keys() }
        let (region, pathStyle) = (self.region ?? Self.usualRegion, !self.virtualHost)
        var isComplete = true
        do {
            try await BucketClient.with(
                authorities: self.authorities, now: { Clocks.system.wall.now() / TimeMath.nanoseconds },
                place: { prefix in
                    S3Bucket(
                        endpoint: endpoint, region: region, bucket: name, prefix: prefix, pathStyle: pathStyle,
                        accessKey: access, secretKey: secret, sessionToken: token)
                }
            ) { client in
                let rooms = BucketRetention(client, prefix: self.prefix, rule: rule)
                try await rooms.find { finding in
                    let removal = self.delete && finding.isRemovable ? await rooms.remove(finding) : nil
                    isComplete = try self.report(finding, removal) && isComplete
                }
            }
        } catch let error as MediaError {
            StandardError.write("\(error)\n")
            throw ExitStatus.unavailable.code
        }
        return isComplete
    }

    private func keys() throws(MediaError) -> (access: String, secret: String, token: String?) {
        func text(_ file: String?, _ variable: String) throws(MediaError) -> String {
            try (file.map { Secret.file($0) } ?? Secret.env(variable)).resolved(place: "bucket")
        }
        return (
            try text(self.accessKeyFile, self.accessKeyEnv ?? Self.accessVariable),
            try text(self.secretKeyFile, self.secretKeyEnv ?? Self.secretVariable),
            try self.sessionTokenEnv.map { name throws(MediaError) in try Secret.env(name).resolved(place: "bucket") }
        )
    }

    private func found<R>(_ body: () throws(MediaError) -> R) throws -> R {
        do throws(MediaError) {
            return try body()
        } catch {
            StandardError.write("\(error)\n")
            throw ExitStatus(error).code
        }
    }

    /// Prints a finding and the result of its removal.
    ///
    /// - Parameter removal: nil if nothing was to be removed.
    /// - Returns: False if the finding was skipped, or if files that should have been removed are left.
    private func report(_ finding: Finding, _ removal: DirectoryRetention.Removal?) throws -> Bool {
        if self.json {
            guard case .object(var members) = finding.json else { return true }
            if let removal {
                members.append(JSONValue.Member("removed", JSONValue(removal.files)))
                members.append(JSONValue.Member("problem", JSONValue(removal.problem)))
            }
            try StandardOutput.write(JSONValue.object(members).text + "\n")
        } else {
            try StandardOutput.write(finding.text)
        }
        guard let removal, let problem = removal.problem else { return !finding.isSkipped }
        if !self.json { StandardError.write("\(finding.path): \(removal.files) files were removed; \(problem)\n") }
        return false
    }
}
