import MediaTypes

extension Pipeline {
    /// What is done with a source's audio before it is mixed.
    package struct SourceAudio: Sendable, Equatable {
        /// How the noise of a source is suppressed.
        package enum NoiseSuppression: String, Sendable, CaseIterable {
            /// Not at all.
            case off
            /// By a filter that follows the level of steady noise.
            case fft
            /// By a recurrent neural network with the operator's model, ``SourceAudio/noiseModel``.
            case model
        }

        /// How the gain of a source follows its loudness.
        package enum AutoGain: String, Sendable, CaseIterable {
            /// Not at all.
            case off
            /// Speech is brought to −18 LUFS, by at most 15 dB up or down.
            case speech
        }

        /// How noise is suppressed. Default ``NoiseSuppression/off``.
        package var noiseSuppression = NoiseSuppression.off
        /// Path of the model for ``NoiseSuppression/model``.
        package var noiseModel: String?
        /// How the gain follows the loudness. Default ``AutoGain/off``.
        package var autoGain = AutoGain.off

        package init() {}

        static let rule = ObjectRule(
            "what is done with a source's audio before it is mixed", SourceAudio(),
            [
                Field(
                    "noiseSuppression", \.noiseSuppression, .choice,
                    "how noise is suppressed: off; fft: a filter that follows the level of steady noise; model: a neural network with the file noiseModel"
                ),
                Field(
                    optional: "noiseModel", \.noiseModel, .path,
                    "path of the model for noiseSuppression: model, in the text format of rnnoise-nu that FFmpeg's arnndn reads, relative to the working directory"
                ),
                Field(
                    "autoGain", \.autoGain, .choice,
                    "off, or speech: speech is brought to -18 LUFS, by at most 15 dB up or down, before volume applies"),
            ])
    }
}

extension SourceDraft {
    /// Checks that a model is named exactly if it is used.
    static func checkAudio(of source: Pipeline.Source, _ path: String, _ log: inout SpecLog) {
        let usesModel = source.audio.noiseSuppression == .model
        guard log.isValid("\(path).audio.noiseSuppression"), usesModel != (source.audio.noiseModel != nil) else {
            return
        }
        if usesModel, log.isValid("\(path).audio.noiseModel") {
            log.mistake(
                "\(path).audio.noiseModel", "is missing",
                fix: "add \"noiseModel\": the path of the model, or write \"noiseSuppression\": \"fft\"")
        } else if !usesModel {
            log.mistake(
                "\(path).audio.noiseModel", "is used only with noiseSuppression: model",
                fix: "remove it, or write \"noiseSuppression\": \"model\"")
        }
    }
}
