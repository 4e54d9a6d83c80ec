package android.media;

public class AudioAttributes {}
