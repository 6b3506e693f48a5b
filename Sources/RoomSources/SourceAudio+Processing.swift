package import PipelineSpec
package import Program

extension Pipeline.SourceAudio.NoiseSuppression {
    /// The noise filter that this setting selects; nil for ``Pipeline/SourceAudio/NoiseSuppression/off``.
    ///
    /// - Parameter path: Path of the model file; used only for the setting `model`.
    package func kind(model path: String) -> NoiseSuppressor.Kind? {
        switch self {
        case .off: nil
        case .fft: .fft
        case .model: .model(path: path)
        }
    }
}

extension AudioProcessing {
    /// The processing that a pipeline requests for a source.
    init(_ audio: Pipeline.SourceAudio) {
        self.init(
            noise: audio.noiseSuppression.kind(model: audio.noiseModel ?? ""), autoGain: audio.autoGain == .speech)
    }
}
