public import BenchCases

/// All measured kernels.
public enum KernelSuite {
    public static let all: [KernelCase] =
        byteKernels + ProtocolCores.all + audioKernels + roomKernels + pictureKernels + animationKernels
}
