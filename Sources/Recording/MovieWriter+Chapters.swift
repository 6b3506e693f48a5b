import HLS

extension MovieWriter {
    /// Writes the chapter track. Spec: QuickTime File Format, “Chapter Lists” and “Text Sample Description”.
    func chapterTrack(base: Int, isLarge: Bool, _ moov: inout BoxWriter) {
        let end = max(self.durationMs, (self.chapters.last?.startMs ?? 0) + 1)
        let starts = self.chapters.map(\.startMs)
        moov.box("trak") { trak in
            self.trackHeader(
                id: self.chapterTrackID, isEnabled: false, duration: self.duration, isAudio: false, width: 0,
                height: 0, &trak)
            trak.box("mdia") { mdia in
                self.mediaHead(
                    timescale: Self.chapterTimescale, duration: end, handler: "text", name: "Chapters", &mdia)
                mdia.box("minf") { minf in
                    minf.box("gmhd") { gmhd in
                        gmhd.fullBox("gmin") { gmin in
                            gmin.u16(0x40)
                            for _ in 0..<3 { gmin.u16(0x8000) }
                            gmin.zeros(4)
                        }
                        gmhd.box("text") { text in for value in Self.matrix { text.u32(value) } }
                    }
                    Self.dataReference(&minf)
                    minf.box("stbl") { stbl in
                        stbl.fullBox("stsd") { stsd in
                            stsd.u32(1)
                            stsd.box("text") { text in
                                text.zeros(6)
                                text.u16(1)
                                text.u32(1)  // display flags
                                text.u32(0)  // justification
                                text.zeros(6 + 8 + 8 + 2 + 2 + 1 + 2 + 6)
                                text.u8(0)  // no font name
                            }
                        }
                        stbl.fullBox("stts") { stts in
                            stts.u32(UInt32(starts.count))
                            for (start, next) in zip(starts, starts.dropFirst() + [end]) {
                                stts.u32(1)
                                stts.u32(UInt32(clamping: max(1, next - start)))
                            }
                        }
                        stbl.fullBox("stsc") { stsc in
                            for value in [1, 1, UInt32(starts.count), 1] { stsc.u32(value) }
                        }
                        stbl.fullBox("stsz") { stsz in
                            stsz.u32(0)
                            stsz.u32(UInt32(starts.count))
                            for chapter in self.chapters { stsz.u32(Self.size(of: chapter)) }
                        }
                        Self.chunkOffsets([base], isLarge: isLarge, &stbl)
                    }
                }
            }
        }
    }

    func userData(_ moov: inout BoxWriter) {
        guard !self.chapters.isEmpty || self.title != nil else { return }
        moov.box("udta") { udta in
            if !self.chapters.isEmpty {
                udta.fullBox("chpl", version: 1) { chpl in
                    chpl.u32(0)
                    chpl.u8(UInt8(clamping: self.chapters.count))
                    for chapter in self.chapters.prefix(255) {
                        let text = Array(chapter.title.utf8.prefix(255))
                        chpl.u64(UInt64(chapter.startMs) * 10_000)
                        chpl.u8(UInt8(clamping: text.count))
                        chpl.raw(text)
                    }
                }
            }
            guard let title = self.title else { return }
            udta.fullBox("meta") { meta in
                meta.fullBox("hdlr") { hdlr in
                    hdlr.u32(0)
                    hdlr.text("mdir")
                    hdlr.text("appl")
                    hdlr.zeros(9)
                }
                meta.box("ilst") { ilst in
                    // The type is `©nam`, with the copyright sign as one byte.
                    ilst.item([0xA9, 0x6E, 0x61, 0x6D]) { item in
                        item.box("data") { data in
                            data.u32(1)
                            data.u32(0)
                            data.raw(Array(title.utf8.prefix(1_000)))
                        }
                    }
                }
            }
        }
    }
}

extension BoxWriter {
    /// Writes a box whose type is not ASCII text.
    fileprivate mutating func item(_ type: [UInt8], _ body: (inout BoxWriter) -> Void) {
        var content = BoxWriter()
        body(&content)
        self.u32(UInt32(clamping: content.bytes.count + 8))
        self.raw(type)
        self.raw(content.bytes)
    }
}
