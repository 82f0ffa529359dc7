"""An application: monitors that drive a debugger. Programs are watched through its points, and stopped where a
property breaks."""
