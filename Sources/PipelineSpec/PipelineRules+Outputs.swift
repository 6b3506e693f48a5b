extension PipelineRules {
    func checkRenditions(_ log: inout SpecLog) {
        guard log.isWritten("renditions") else { return }
        var names: [String: Int] = [:]
        for (index, rendition) in self.pipeline.renditions.enumerated() {
            let path = "renditions[\(index)]"
            if log.isSound("\(path).name") {
                if let first = names[rendition.name] {
                    log.mistake(
                        "\(path).name", "\(SpecText.quoted(rendition.name)) is renditions[\(first)] already",
                        fix: "use another name")
                } else {
                    names[rendition.name] = index
                }
            }
            self.checkRate(of: rendition, path, &log)
            self.checkLatency(of: rendition, path, &log)
            self.checkPassthrough(of: rendition, path, &log)
            guard !rendition.isAudioOnly,
                log.isSound("\(path).width", "\(path).height", "canvas.width", "canvas.height")
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
        // A pixel either way: the exact other side may be a fraction, and must then become even.
        let difference = abs(rendition.width * canvas.height - rendition.height * canvas.width)
        guard difference > max(canvas.width, canvas.height) else { return }
        let height = max(16, (rendition.width * canvas.height + canvas.width) / (2 * canvas.width) * 2)
        let width = max(16, (rendition.height * canvas.width + canvas.height) / (2 * canvas.height) * 2)
        log.mistake(
            "\(path).height", "\(shown) has another shape than the canvas, \(canvas.width)x\(canvas.height)",
            fix: "use \(rendition.width)x\(height) or \(width)x\(rendition.height)")
    }

    func checkOutputs(_ log: inout SpecLog) {
        var ids: [String: Int] = [:]
        var paths: [String: Int] = [:]
        var hls: Int?
        var record: Int?
        for (index, output) in self.pipeline.outputs.enumerated() where log.isSound("outputs[\(index)].type") {
            let path = "outputs[\(index)]"
            if case .hls(let settings) = output {
                if let hls {
                    log.mistake(
                        path, "a room has one hls output, and outputs[\(hls)] is it", fix: "remove one of the two")
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
                        path, "a room has one record output, and outputs[\(record)] is it",
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
            } else if self.pipeline.canvas.policy == .perScene {
                log.mistake(
                    "\(path).type", "a raw output has one size for all pictures, and canvas.policy is \"perScene\"",
                    fix: "write \"fixed\" there, or remove this output")
            }
            if log.isSound("\(path).outputId") {
                if let first = ids[output.outputID] {
                    log.mistake(
                        "\(path).outputId", "\(SpecText.quoted(output.outputID)) is outputs[\(first)] already",
                        fix: "add another \"outputId\"")
                } else {
                    ids[output.outputID] = index
                }
            }
            if let place = output.path, log.isSound("\(path).path") {
                if let first = paths[place] {
                    log.mistake("\(path).path", "outputs[\(first)] writes there already", fix: "use another path")
                } else {
                    paths[place] = index
                }
            }
        }
    }

    private func checkGrid(_ output: HLSOutput, _ path: String, _ log: inout SpecLog) {
        guard log.isSound("\(path).gopFrames", "\(path).partFrames", "canvas.fps") else { return }
        if !output.gopFrames.isMultiple(of: output.partFrames) {
            let below = output.gopFrames / output.partFrames * output.partFrames
            let multiples = [below, below + output.partFrames].filter { $0 > 0 && $0 <= 600 }.map(String.init)
            let part = HLSOutput.defaultPartFrames(fps: self.pipeline.canvas.fps, gopFrames: output.gopFrames)
            log.mistake(
                "\(path).gopFrames", "\(output.gopFrames) frames are no whole number of parts of \(output.partFrames)",
                fix: "write \(SpecText.choice(multiples, quoted: false)), or \"partFrames\": \(part)")
            return
        }
        self.checkParts(output, path, &log)
        guard log.isSound("\(path).segmentGops", "\(path).windowSeconds") else { return }
        // RFC 8216bis §6.2.2: a playlist never gets shorter than three target durations.
        let target = output.targetDuration(fps: self.pipeline.canvas.fps)
        if output.windowSeconds < 3 * target {
            log.mistake(
                "\(path).windowSeconds", "\(output.windowSeconds) s is less than three target durations of \(target) s",
                fix: "write at least \(3 * target), or make segments shorter")
        }
    }
}
