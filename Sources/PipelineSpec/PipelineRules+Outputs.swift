import MediaTypes

extension PipelineRules {
    func checkRenditions(_ log: inout SpecLog) {
        guard log.isWritten("renditions") else { return }
        var names: [String: String] = [:]
        for (index, rendition) in self.pipeline.renditions.enumerated() {
            let path = "renditions[\(index)]"
            log.checkUnique(rendition.name, "\(path).name", of: path, &names, fix: "use another name")
            self.checkRate(of: rendition, path, &log)
            self.checkLatency(of: rendition, path, &log)
            self.checkPassthrough(of: rendition, path, &log)
            self.checkEncoder(of: rendition, path, &log)
            guard !rendition.isAudioOnly,
                log.isValid("\(path).width", "\(path).height", "canvas.width", "canvas.height")
            else { continue }
            self.checkSize(of: rendition, path, &log)
        }
    }

    private func checkSize(of rendition: Rendition, _ path: String, _ log: inout SpecLog) {
        let canvas = self.pipeline.canvas
        let shown = "\(rendition.width)x\(rendition.height)"
        if rendition.width > canvas.width || rendition.height > canvas.height {
            log.mistake(
                rendition.width > canvas.width ? "\(path).width" : "\(path).height",
                "\(shown) is larger than the canvas, \(canvas.width)x\(canvas.height)",
                fix: "use at most the canvas's size, or enlarge the canvas")
            return
        }
        // One pixel of tolerance: the exact size of the other side may be a fraction, and it must be even.
        let difference = abs(rendition.width * canvas.height - rendition.height * canvas.width)
        guard difference > max(canvas.width, canvas.height) else { return }
        let height = max(16, (rendition.width * canvas.height + canvas.width) / (2 * canvas.width) * 2)
        let width = max(16, (rendition.height * canvas.width + canvas.height) / (2 * canvas.height) * 2)
        log.mistake(
            "\(path).height", "\(shown) has another aspect ratio than the canvas, \(canvas.width)x\(canvas.height)",
            fix: "use \(rendition.width)x\(height) or \(width)x\(rendition.height)")
    }

    func checkOutputs(_ log: inout SpecLog) {
        var ids: [String: String] = [:]
        var paths: [[Substring]: Int] = [:]
        var hls: Int?
        var record: Int?
        var webRTC: Int?
        for (index, output) in self.pipeline.outputs.enumerated() where log.isValid("outputs[\(index)].type") {
            let path = "outputs[\(index)]"
            if case .hls(let settings) = output {
                if let hls {
                    log.mistake(
                        path, "a room can have only one hls output, and outputs[\(hls)] is one",
                        fix: "remove one of the two")
                    continue
                }
                hls = index
                self.checkGrid(settings, path, &log)
                settings.http.tls?.check(self.checks, at: "\(path).http.tls", &log)
                settings.http.signedURLs?.check(at: "\(path).http.signedUrls", &log)
                if let encryption = settings.encryption {
                    self.check(encryption, of: settings, "\(path).encryption", &log)
                }
            } else if case .record(let settings) = output {
                if let record {
                    log.mistake(
                        path, "a room can have only one record output, and outputs[\(record)] is one",
                        fix: "remove one of the two")
                    continue
                }
                record = index
                self.check(settings, path, &log)
            } else if case .image(let image) = output {
                self.check(image, path, &log)
            } else if case .transport = output {
                self.checkTransport(path, &log)
            } else if output.isElsewhere {
                self.checkUpload(output, path, &log)
            } else if case .rtmp(let settings) = output {
                self.check(settings, path, &log)
            } else if case .webRTC(let settings) = output {
                if let webRTC {
                    log.mistake(
                        path, "a room can have only one webrtc output, and outputs[\(webRTC)] is one",
                        fix: "name all renditions in one of the two, and remove the other")
                    continue
                }
                webRTC = index
                self.check(settings, path, &log)
            } else if self.pipeline.canvas.policy == .perScene {
                log.mistake(
                    "\(path).type", "a raw output needs one frame size, but canvas.policy is \"perScene\"",
                    fix: "set canvas.policy to \"fixed\", or remove this output")
            }
            log.checkUnique(output.outputID, "\(path).outputId", of: path, &ids, fix: "add another \"outputId\"")
            // Normalized, since "out" and "./out/" are the same directory.
            if let place = output.path.map({ Self.components(of: $0) }), log.isValid("\(path).path") {
                if let first = paths[place] {
                    log.mistake(
                        "\(path).path", "outputs[\(first)] already writes to this path", fix: "use another path")
                } else {
                    paths[place] = index
                }
            }
        }
        if let hls, let clips = self.pipeline.hls?.clipPath, let other = paths[Self.components(of: clips)],
            log.isValid("outputs[\(hls)].clipPath")
        {
            log.mistake(
                "outputs[\(hls)].clipPath", "outputs[\(other)] already writes to this path", fix: "use another path")
        }
        self.checkClearPlaces(&log)
        self.checkPlaylistNames(&log)
        self.checkImageNames(&log)
        self.checkSourceStills(&log)
    }

    /// Checks that recordings and clips of an encrypted room, which are not encrypted, are outside the directories that
    /// viewers can read. This compares the paths as written; the room compares the real directories when it starts.
    private func checkClearPlaces(_ log: inout SpecLog) {
        guard let hls = self.pipeline.hls, hls.encryption != nil else { return }
        let served = [hls.path] + self.pipeline.transports.map(\.path)
        func check(_ place: String, _ path: String, _ what: String) {
            let components = Self.components(of: path)
            guard log.isValid(place),
                let directory = served.first(where: { components.starts(with: Self.components(of: $0)) })
            else { return }
            log.mistake(
                place,
                "\(what) without encryption would be inside \(SpecText.quoted(directory)), whose segments are encrypted",
                fix: "choose a directory outside of it that no viewer can reach")
        }
        for (index, output) in self.pipeline.outputs.enumerated() {
            if case .record(let record) = output { check("outputs[\(index)].path", record.path, "a recording") }
            if case .hls(let output) = output, let path = output.clipPath {
                check("outputs[\(index)].clipPath", path, "clips")
            }
        }
        for (index, source) in self.pipeline.sources.enumerated() {
            guard let record = source.record else { continue }
            check("sources[\(index)].record.directory", record.directory, "a recording")
        }
    }

    /// Returns the components of a path, without `.` and with `..` resolved as far as the text allows.
    static func components(of path: String) -> [Substring] {
        let root: Substring = path.utf8.first == UInt8(ascii: "/") ? "/" : "."
        var components = [root]
        for part in path.split(separator: "/") where part != "." {
            guard part == ".." else {
                components.append(part)
                continue
            }
            if components.count > 1, components.last != ".." {
                components.removeLast()
            } else if root == "." {
                components.append(part)
            }
        }
        return components
    }

    private func checkGrid(_ output: HLSOutput, _ path: String, _ log: inout SpecLog) {
        guard log.isValid("\(path).gopFrames", "\(path).partFrames", "canvas.fps") else { return }
        if !output.gopFrames.isMultiple(of: output.partFrames) {
            let below = output.gopFrames / output.partFrames * output.partFrames
            let multiples = [below, below + output.partFrames].filter { $0 > 0 && $0 <= 600 }.map(String.init)
            let part = HLSOutput.defaultPartFrames(fps: self.pipeline.canvas.fps, gopFrames: output.gopFrames)
            log.mistake(
                "\(path).gopFrames",
                "\(output.gopFrames) frames are not a whole number of parts of \(output.partFrames) frames",
                fix: "write \(SpecText.choice(multiples, quoted: false)), or \"partFrames\": \(part)")
            return
        }
        self.checkParts(output, path, &log)
        guard log.isValid("\(path).segmentGops", "\(path).windowSeconds") else { return }
        // RFC 8216bis §6.2.2: a playlist never gets shorter than three target durations.
        let target = output.targetDuration(fps: self.pipeline.canvas.fps)
        if output.windowSeconds < 3 * target {
            log.mistake(
                "\(path).windowSeconds", "\(output.windowSeconds) s is less than three target durations of \(target) s",
                fix: "write at least \(3 * target), or make segments shorter")
        }
    }
}
